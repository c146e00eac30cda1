import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import { endpoints } from '#contract/endpoints.ts'

const ROOT = join(import.meta.dirname, '../..')
const PRODUCT =
  /^(src\/(contract|x402|chains|egress|http|postgres|web|bff|service)\/|index\.html$|vite\.config\.ts$)/
const TEXT = /\.(ts|tsx|mjs|js|json|md|css|html|sql|svg|sh|yml|yaml)$|^\.ci\/run$/

/** Text of every file of ours by path, built and installed ones left out. */
const files = new Map<string, string>()

beforeAll(async () => {
  const tops = await readdir(ROOT, { withFileTypes: true })
  const folders = tops.filter(
    (entry) =>
      entry.isDirectory() &&
      ['src', 'e2e', 'public', 'deploy', 'docs', 'bench', '.ci'].includes(entry.name),
  )
  const paths = tops
    .filter((entry) => entry.isFile() && entry.name !== 'package-lock.json')
    .map((entry) => entry.name)
  for (const folder of folders) {
    for (const path of await readdir(join(ROOT, folder.name), { recursive: true }))
      paths.push(join(folder.name, path))
  }
  for (const path of paths)
    if (TEXT.test(path) && !/(^|\/)node_modules\//.test(path))
      files.set(path, await readFile(join(ROOT, path), 'utf8'))
})

const within = (pattern: RegExp) => [...files].filter(([path]) => pattern.test(path))

test.each(Object.entries(endpoints).filter(([, { audience }]) => audience === 'browser'))(
  'the browser calls the endpoint %s, or the document for integrators says who does',
  (name, { path }) => {
    expect(callers('call', name).length > 0 || isExplained(path)).toBe(true)
  },
)

test.each(Object.entries(browserEndpoints))(
  'the browser calls the proxy endpoint %s, or the document for integrators says who does',
  (name, { path }) => {
    expect(callers('callProxy', name).length > 0 || isExplained(path)).toBe(true)
  },
)

test('no product file knows that the devnet exists', () => {
  // Solana's public cluster has the same name: it is part of chain ids and of the constant for them.
  const mentions = (text: string) =>
    /devnet/i.test(
      text.replaceAll(/SOLANA_DEVNET|solana[:-]devnet|\]: 'devnet'|Solana Devnet/g, ''),
    )
  expect(
    within(PRODUCT)
      .filter(([path, text]) => !path.includes('.test.') && mentions(text))
      .map(([path]) => path),
  ).toEqual([])
})

// The brackets keep the patterns below from finding themselves.
test('no file names a folder of the machine it was written on', () => {
  const outside =
    /\/[w]ork\/(main|shared|steering)|\.\.\/[s]hared\/|\b[s]hared\/(design|research|spec)\b|\/tmp\/[b]rief/
  expect([...files].filter(([, text]) => outside.test(text)).map(([path]) => path)).toEqual([])
})

test('browser tests live in e2e/, all others beside the code they test', () => {
  const e2e = [...files.keys()].filter((path) => path.endsWith('.e2e.ts'))
  const beside = [...files.keys()].filter((path) => /\.test\.tsx?$/.test(path))
  expect(e2e.filter((path) => !path.startsWith('e2e/'))).toEqual([])
  expect(beside.filter((path) => !path.startsWith('src/'))).toEqual([])
})

test('no test sleeps, retries, or is left out', () => {
  const forbidden =
    /[w]aitForTimeout\(|\b[r]etries: [1-9]|\b(test|it|describe)\.([o]nly|[s]kip|[f]ixme|[t]odo)\b/
  expect(
    within(/(\.test\.tsx?|^e2e\/.*\.ts)$/)
      .filter(([, text]) => forbidden.test(text))
      .map(([path]) => path),
  ).toEqual([])
})

test('every command that provokes faults or generates requests repeats a run by its seed', () => {
  const { scripts } = JSON.parse(files.get('package.json') ?? '') as {
    scripts: Record<string, string>
  }
  const without = Object.entries(scripts)
    .filter(([name]) => /^(chaos|fuzz)(:|$)/.test(name))
    .filter(([, script]) => {
      const [path = ''] = /src\/testing\/\S+\.ts/.exec(script) ?? []
      return !/\brunCommand\(|'(--)?seed'/.test(files.get(path) ?? '')
    })
  // One goes through every step in turn, the other one runs the commands.
  expect(without.map(([name]) => name)).toEqual(['chaos:crash', 'chaos'])
})

/** Named in the text of the document for integrators, beside the table of all endpoints. */
function isExplained(path: string): boolean {
  const [text = ''] = files.get('docs/INTEGRATION.md')?.split('## All endpoints') ?? []
  return text.includes(`${path}\``)
}

function callers(via: string, endpoint: string): string[] {
  const call = new RegExp(`\\b${via}\\(\\s*'${endpoint}'`)
  return within(/^src\/web\//)
    .filter(([, text]) => call.test(text))
    .map(([path]) => path)
}
