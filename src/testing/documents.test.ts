import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { readEnv as readProxyEnv, toConfig as toProxyConfig } from '#bff/config/config.ts'
import { PLANS } from '#contract/api-key-body.ts'
import { endpoints } from '#contract/endpoints.ts'
import { NetworkConfig } from '#contract/network-config.ts'
import {
  NATIVE_ETH,
  NATIVE_SOL,
  Network,
  SOLANA_DEVNET,
  SOLANA_MAINNET,
} from '#contract/network.ts'
import { RETRYABLE, type ProblemCode } from '#contract/problem-codes.ts'
import { problems } from '#contract/problem.ts'
import { readOptions } from '#devnet/options.ts'
import { readConfig as readShopConfig } from '#devnet/seller/config.ts'
import { findCommand } from '#service/admin/run.ts'
import { readEnv as readServiceEnv, toConfig as toServiceConfig } from '#service/context/config.ts'
import { readSignerConfig } from '#signer/config.ts'
import { WebConfig } from '#web/app/config.ts'
import { receiveServer } from '#web/pages/developers/receive-server.ts'

/** What the documents say is compared with the code, so that neither changes alone. Their commands are run by documented-commands.test.ts. */

const ROOT = join(import.meta.dirname, '../..')
const OURS = ['*', 'docs/**/*', 'deploy/**/*', 'e2e/**/*', 'bench/*', 'src/**/*', '.ci/*']
const README_LINES = 130
/** Paths that are no rows of the endpoint table. */
const OPERATIONS = [
  'GET /health/live',
  'GET /health/ready',
  'GET /metrics',
  'GET /ws',
  'GET /api/events',
  'GET /api/file/:code',
  'POST /api/files/download',
  'GET /api/config',
]

const documents = new Map(find('.md').map((path) => [path, read(path)]))
const sources = find('.{ts,tsx,mjs,yaml,yml}').filter((path) => !path.includes('.test.'))
const manifest: { scripts: Record<string, string> } = JSON.parse(read('package.json'))

test(`the README has at most ${README_LINES} lines`, () => {
  expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES)
})

test.each([...documents.keys()])('every path that %s names exists', (document) => {
  const quoted =
    /`((?:src|e2e|public|deploy|docs|bench|\.ci)\/[\w./*{},-]*|(?:web|bff|service|contract|chains|devnet|postgres)\/[\w./*{},-]*\.\w+)`/g
  const named = [...textOf(document).matchAll(quoted)].flatMap(([, path = '']) =>
    expandBraces(path),
  )
  expect(
    named.filter(
      (path) =>
        !['', 'src/'].some((base) => existsSync(join(ROOT, `${base}${path}`.split('*')[0] ?? ''))),
    ),
  ).toEqual([])
})

test.each([...documents.keys()])('every relative link and anchor of %s resolves', (document) => {
  const links = [
    ...withoutCode(textOf(document)).matchAll(
      /\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g,
    ),
  ]
  const broken = links.filter(([, path = '', anchor]) => {
    const target = path === '' ? document : normalize(join(dirname(document), path))
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && !anchorsOf(documents.get(target) ?? '').has(anchor)
  })
  expect(broken.map(([link]) => link)).toEqual([])
})

test.each([...documents.keys()])('every npm script that %s names exists', (document) => {
  const named = [
    ...textOf(document).matchAll(/npm (?:run (?:--silent )?([\w:]+)|(start|test)\b)/g),
  ].map(([, script, short]) => script ?? short ?? '')
  expect(named.filter((name) => !(name in manifest.scripts))).toEqual([])
})

describe('variables', () => {
  const of = (heading: string) => firstCells(section('docs/OPERATIONS.md', heading))
  const both = of('Both programs')

  test('those of the service are documented, and no others', () => {
    expect([...both, ...of('Service')].toSorted()).toEqual(
      variablesRead(readServiceEnv, toServiceConfig),
    )
  })

  test('those of the proxy are documented, and no others', () => {
    expect([...both, ...of('Proxy')].toSorted()).toEqual(variablesRead(readProxyEnv, toProxyConfig))
  })

  test('those of the signer are among those of the service', () => {
    const known = [...both, ...of('Service')]
    expect(variablesRead(readSignerConfig).filter((name) => !known.includes(name))).toEqual([])
  })

  test('those of the programs of the local network are documented, and no others', () => {
    const [ports = [], shop = [], solana = []] = tables(
      section('docs/OPERATIONS.md', 'The local network'),
    )
    expect(ports.toSorted()).toEqual(variablesRead((env) => readOptions([], env)))
    expect(shop.toSorted()).toEqual(variablesRead(readShopConfig))
    const [, object = ''] =
      /v\.object\(\{([^}]*)\}\),\s*process\.env/.exec(read('src/devnet/nodes/solana/main.ts')) ?? []
    expect(solana.toSorted()).toEqual(
      [...object.matchAll(/(\w+):/g)].map(([, name = '']) => name).toSorted(),
    )
  })

  test('no other program reads an environment', () => {
    const readers = sources.filter(
      (path) =>
        /^(src|packages)\/(?!testing\/|devnet\/examples\/|web\/)/.test(path) &&
        /process\.env\b|\benv\b[^;]*from 'node:process'/.test(read(path)),
    )
    expect(readers).toEqual([
      'src/bff/main.ts',
      'src/devnet/main.ts',
      'src/devnet/nodes/solana/main.ts',
      'src/devnet/seller/main.ts',
      'src/service/admin/main.ts',
      'src/service/main.ts',
      'src/signer/main.ts',
    ])
    // Each passes its environment to the functions above; these are the names that it looks up itself.
    const looked = readers.flatMap((path) =>
      [
        ...read(path).matchAll(
          /process\.env(?:\.(\w+)|\['(\w+)'\])|\{([\w\s,]+)\} = process\.env\b/g,
        ),
      ].flatMap(([, name, quoted, several = '']) =>
        [name, quoted, ...several.split(/[\s,]+/)].filter(Boolean),
      ),
    )
    expect(looked).toEqual(['LISTEN_FDS', 'LISTEN_PID'])
    for (const name of looked) expect(textOf('docs/OPERATIONS.md')).toContain(`\`${name}\``)
  })

  test('the fields of config.json are documented, and no others', () => {
    expect(of('Dashboard').toSorted()).toEqual(Object.keys(WebConfig.entries).toSorted())
  })

  test('the fields of a network are documented, and no others', () => {
    expect(of('Networks').toSorted()).toEqual(Object.keys(Network.entries).toSorted())
  })

  test('the ports of the local network are in the README, and no others', () => {
    const named = [...textOf('README.md').matchAll(/`(PORT_\w+)`/g)].map(([, name = '']) => name)
    const { named: ports } = readOptions([], {})
    expect(named.toSorted()).toEqual(ports.map(({ variable }) => variable).toSorted())
  })

  test.each([...documents.keys()])('each one that %s names is read by a program', (document) => {
    const code = sources.map(read).join('\n')
    const names = [...textOf(document).matchAll(/`\$?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(
      ([, name = '']) => name,
    )
    expect(
      names.filter((name) => !(name in problems) && !new RegExp(`\\b${name}\\b`).test(code)),
    ).toEqual([])
  })
})

describe('tables', () => {
  test('every endpoint is listed with its scope, and no other', () => {
    const listed = rows(section('docs/INTEGRATION.md', 'All endpoints')).map(
      ([endpoint, scope]) => `${endpoint} ${scope}`,
    )
    expect(listed).toEqual(
      Object.values(endpoints).map(
        ({ method, path, scope }) => `\`${method} ${path}\` \`${scope}\``,
      ),
    )
  })

  test('every endpoint that a document names exists', () => {
    const known = new Set([
      ...Object.values(endpoints).map(({ method, path }) => `${method} ${path}`),
      ...OPERATIONS,
    ])
    const named = [...documents.values()].flatMap((text) =>
      [...text.matchAll(/`((?:GET|POST|DELETE) \/[^\s`?]*)/g)].map(([, name = '']) => name),
    )
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  test('every error code is listed with its status and whether to repeat, and no other', () => {
    const listed = rows(section('docs/INTEGRATION.md', 'Errors and limits')).map(
      ([code, status, , repeat]) => `${code} ${status} ${repeat}`,
    )
    expect(listed).toEqual(
      Object.entries(RETRYABLE).map(
        ([code, retryable]) =>
          `\`${code}\` ${problems[code as ProblemCode].status} ${retryable ? 'yes' : 'no'}`,
      ),
    )
  })

  test('the limits of the plans are those of the code', () => {
    const { standard, premium } = PLANS
    const expected = (['requestsPerMinute', 'webSockets', 'messagesPerSecond'] as const).map(
      (limit) => [String(standard[limit]), String(premium[limit])],
    )
    const limits = rows(section('docs/OPERATIONS.md', 'Limits')).slice(0, expected.length)
    expect(limits.map(([, ...figures]) => figures)).toEqual(expected)
  })

  test('every admin command is listed, and no other', () => {
    const known = /Expected one of: (.+)\.$/
      .exec(refusal(() => findCommand({ command: 'none', values: {} })))?.[1]
      ?.split(', ')
    expect(firstCells(section('docs/OPERATIONS.md', 'Admin commands')).toSorted()).toEqual(
      known?.toSorted(),
    )
  })

  test('every metric and every log line of the runbook exists', () => {
    const code = sources.map(read).join('\n')
    const signals = rows(section('docs/OPERATIONS.md', 'An alarm or a log line')).map(
      ([, signal = '']) => signal,
    )
    const named = [
      ...signals,
      ...rows(section('docs/OPERATIONS.md', 'Monitoring')).map(([name = '']) => name),
    ].flatMap(codeSpans)
    expect(named.length).toBeGreaterThan(15)
    expect(
      named.filter((text) => !code.includes(`'${text}'`) && !OPERATIONS.includes(text)),
    ).toEqual([])
  })
})

describe('snippets', () => {
  const snippets = [...documents].flatMap(([document, text]) =>
    [...text.matchAll(/^( *)```(\w+)\n([^]*?)^ *```$/gm)].map(
      ([all, indent = '', language = '', body = '']) => ({
        document,
        language,
        body: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
        before: text.slice(0, text.indexOf(all)),
      }),
    ),
  )
  const of = (language: string) => snippets.filter((snippet) => snippet.language === language)

  test('have a language that a test knows', () => {
    expect(
      snippets
        .map(({ language }) => language)
        .filter((language) => !['sh', 'ts', 'json', 'html', 'mermaid', 'sql'].includes(language)),
    ).toEqual([])
  })

  test.each(of('ts'))(
    'in TypeScript of $document are the whole file named before them, which a test runs',
    ({ before, body }) => {
      const path =
        [...before.matchAll(/`(src\/devnet\/examples\/[\w-]+\/main\.ts)`/g)].at(-1)?.[1] ??
        'no file'
      expect(body).toBe(read(path))
      expect(read('src/devnet/examples/examples.test.ts')).toMatch(
        new RegExp(`\\b(run|start)\\('${path.split('/').at(-2)}'`),
      )
    },
  )

  test('the servers of the developers page are the examples that a test runs', () => {
    const evm = { network: 'eip155:31337', assets: [NATIVE_ETH] }
    const solana = { network: SOLANA_DEVNET, assets: [NATIVE_SOL] }
    expect(receiveServer(evm)).toBe(read('src/devnet/examples/receive/main.ts'))
    expect(receiveServer(solana)).toBe(read('src/devnet/examples/receive-solana/main.ts'))
    const lines = receiveServer({ ...solana, network: SOLANA_MAINNET }).split('\n')
    expect(lines.filter((line) => !receiveServer(solana).includes(line))).toEqual([
      `  network: '${SOLANA_MAINNET}',`,
    ])
  })

  test.each(of('json'))('in JSON of $document can be read', ({ body }) => {
    const value: unknown = JSON.parse(body)
    if (body.includes('"rpcUrls"')) expect(v.safeParse(NetworkConfig, value).issues).toBeUndefined()
  })

  test.each(of('html'))(
    'in HTML of $document name attributes that the pay button reads',
    ({ body }) => {
      const button = read('public/button.js')
      const named = [...body.matchAll(/ data-(\w+)=/g)].map(([, name = '']) => name)
      expect(named.length).toBeGreaterThan(0)
      for (const name of named) expect(button).toContain(`script.dataset.${name}`)
      expect(body).toMatch(/ src="https:\/\/[^"]+\/button\.js"/)
    },
  )

  test.each(of('sh'))('for the shell of $document have its syntax', ({ body }) => {
    expect(spawnSync('sh', ['-n'], { input: body, encoding: 'utf8' }).stderr).toBe('')
  })
})

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function find(ending: string): string[] {
  return globSync(
    OURS.map((pattern) => `${pattern}${ending}`),
    { cwd: ROOT, exclude: (path) => path.includes('node_modules') },
  ).toSorted()
}

function textOf(document: string): string {
  return documents.get(document) ?? ''
}

/** A document without its blocks and spans of code. */
function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[^]*?^ *```$/gm, '').replaceAll(/`[^`\n]*`/g, 'code')
}

/** As GitHub makes them of headings; of two equal ones the second gets a number. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of text
    .replaceAll(/^ *```[^]*?^ *```$/gm, '')
    .matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    let anchor = plain
    for (let count = 1; anchors.has(anchor); count++) anchor = `${plain}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

/** The text below a heading, up to the next one of its level or above. */
function section(document: string, heading: string): string {
  const lines = textOf(document).split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  const level = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 0
  if (level === 0) throw new Error(`${document} has no heading ${heading}.`)
  const end = lines.findIndex(
    (line, index) => index > start && (/^#+(?= )/.exec(line)?.[0].length ?? level + 1) <= level,
  )
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n')
}

/** The rows of the tables in a text, without their heads. */
function rows(text: string): string[][] {
  const lines = text.split('\n')
  const isRule = (line: string | undefined) => /^ *\|[\s|:-]+\|$/.test(line ?? '')
  const body = lines.filter(
    (line, index) => line.trim().startsWith('|') && !isRule(line) && !isRule(lines[index + 1]),
  )
  return body.map((line) =>
    line
      .trim()
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

/** The names in the first cells of each table of a text. */
function tables(text: string): string[][] {
  return text
    .split('\n\n')
    .map(firstCells)
    .filter((names) => names.length > 0)
}

function firstCells(text: string): string[] {
  return rows(text).flatMap(([cell = '']) => codeSpans(cell))
}

function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
}

type Env = Readonly<Record<string, string | undefined>>

/** The names that a program looks up in an environment where nothing is set. */
function variablesRead(...readers: readonly ((env: Env) => unknown)[]): string[] {
  const names = new Set<string>()
  const env: Env = new Proxy(
    {},
    {
      get: (_, name) => {
        if (typeof name === 'string') names.add(name)
        return undefined
      },
      has: (_, name) => {
        if (typeof name === 'string') names.add(name)
        return false
      },
    },
  )
  for (const reader of readers) refusal(() => reader(env))
  return [...names].toSorted()
}

/** Why a call fails; nothing where it does not. */
function refusal(call: () => unknown): string {
  try {
    call()
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** `{evm,solana}` means both. */
function expandBraces(path: string): string[] {
  const [, before, inner, after] = /^(.*?)\{([^}]+)\}(.*)$/.exec(path) ?? []
  return inner === undefined
    ? [path]
    : inner.split(',').flatMap((part) => expandBraces(`${before}${part}${after}`))
}
