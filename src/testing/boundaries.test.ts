import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { layersAbove, PROGRAMS } from './import-rules.ts'

/**
 * A guard that nobody has seen fail proves nothing: this plants a violation of every boundary in a
 * copy of the repository and expects the tool to see it.
 */

const ROOT = join(import.meta.dirname, '../..')

/** A file that each folder must not import. */
const FORBIDDEN: Record<string, string> = {
  contract: 'chains/match.ts',
  chains: 'service/context/context.ts',
  egress: 'contract/network.ts',
  http: 'service/context/context.ts',
  postgres: 'contract/network.ts',
  web: 'service/context/context.ts',
  bff: 'service/context/context.ts',
  service: 'web/main.tsx',
  signer: 'service/context/context.ts',
  devnet: 'web/main.tsx',
}
const BROWSER_FOLDERS = ['contract', 'chains', 'web']
const SERVERS = 'src/tsconfig.servers.json'
const SERVER_FOLDERS = ['egress', 'http', 'postgres', 'bff', 'service', 'signer']

type Plant = { title: string; path: string; source: string; by: 'lint' | 'types'; expected: RegExp }

const imports = /no-restricted-imports/
const plants: Plant[] = [
  ...Object.entries(FORBIDDEN).flatMap(([folder, target]): Plant[] => [
    plant(
      folder,
      ['an import by alias', `import * as other from '#${target}'\nexport const one = other`],
      imports,
    ),
    plant(
      folder,
      ['a relative import', `import * as other from '../../${target}'\nexport const one = other`],
      imports,
    ),
    {
      ...plant(
        folder,
        [
          'a deep relative import',
          `import * as other from '../../../../src/${target}'\nexport const one = other`,
        ],
        imports,
      ),
      path: `src/${folder}/planted/deep/deep.ts`,
    },
    plant(folder, ['a dynamic import', `export const load = () => import('#${target}')`], imports),
    plant(
      folder,
      [
        'a type-only import',
        `import type * as other from '#${target}'\nexport type One = typeof other`,
      ],
      imports,
    ),
    {
      ...plant(
        folder,
        [
          'an import tsc has no reference for',
          `import * as other from '#${foreignFile(folder)}'\nexport const one = other`,
        ],
        /TS6307|TS6059/,
      ),
      by: 'types',
    },
    plant(folder, ['process.env', 'export const one: unknown = process.env.ONE'], /no-process-env/),
    plant(folder, ['any', 'export const one: any = 1'], /no-explicit-any/),
    plant(
      folder,
      ['a promise nobody waits for', 'export function one() {\n  Promise.resolve(1)\n}'],
      /no-floating-promises/,
    ),
    plant(folder, ['a barrel', `export * from './one.ts'`], /no-barrel-file/),
    plant(folder, ['a default export', 'export default 1'], /no-default-export/),
  ]),
  ...BROWSER_FOLDERS.flatMap((folder) => [
    plant(
      folder,
      [
        'a module of Node',
        `import { readFileSync } from 'node:fs'\nexport const one = readFileSync`,
      ],
      /no-nodejs-modules/,
    ),
    plant(folder, ['process', 'export const one: unknown = process'], /no-restricted-globals/),
    plant(folder, ['Buffer', 'export const one: unknown = Buffer'], /no-restricted-globals/),
  ]),
  {
    ...plant(
      'contract',
      ['process to tsc', 'export const one: unknown = process'],
      /TS2591|TS2304/,
    ),
    by: 'types',
  },
  {
    ...plant(
      'contract',
      ['document to tsc', 'export const one: unknown = document'],
      /TS2584|TS2304/,
    ),
    by: 'types',
  },
  ...SERVER_FOLDERS.map((folder): Plant => ({
    ...plant(folder, ['document to tsc', 'export const one: unknown = document'], /TS2584|TS2304/),
    by: 'types',
  })),
  {
    ...inside('service/api', [
      'a query and a chain in a handler',
      `import type { Chain } from '../chains/chain.ts'\nexport type One = Chain`,
    ]),
    path: 'src/service/api/handlers.ts',
  },
  inside('service/db', [
    'a rule in the database folder',
    `import type { Context } from '../context/context.ts'\nexport type One = Context`,
  ]),
  inside('service/chains/evm', [
    'Solana on the EVM side',
    `import { Connection } from '@solana/web3.js'\nexport const one = Connection`,
  ]),
  inside('service/chains/solana', [
    'EVM on the Solana side',
    `import { createPublicClient } from 'viem'\nexport const one = createPublicClient`,
  ]),
  inside('chains/evm', [
    'Solana on the EVM side',
    `import * as other from '../solana/decode.ts'\nexport const one = other`,
  ]),
  inside('chains/solana', [
    'EVM on the Solana side',
    `import * as other from '../evm/decode.ts'\nexport const one = other`,
  ]),
  inside('web/pages/overview', [
    'wallet code on a page that only reads',
    `import { payEvm } from '../../wallet/evm/pay.ts'\nexport const one = payEvm`,
  ]),
  inside('web/shell', [
    'a wallet library in the shell',
    `import { createConfig } from 'wagmi'\nexport const one = createConfig`,
  ]),
  inside('web/ui', [
    'a query in the design system',
    `import { useQuery } from '@tanstack/react-query'\nexport const one = useQuery`,
  ]),
  ...Object.entries(PROGRAMS).flatMap(([program, { layers = [] }]) =>
    layers.flat().flatMap((layer): Plant[] => {
      const [above] = layersAbove(layers, layer)
      if (above === undefined) return []
      const target = `${'../'.repeat(layer.split('/').length)}${above}/one.ts`
      return [
        inside(`${program}/${layer}`, [
          `an import of ${above}`,
          `import type { One } from '${target}'\nexport type Two = One`,
        ]),
      ]
    }),
  ),
]

/** A type checker, next to other tests that need the CPU. */
const TOOL_MS = 240_000

const copies: string[] = []
const complaints = { lint: new Map<string, string[]>(), types: new Map<string, string[]>() }

beforeAll(async () => {
  const [linted, typed] = (['lint', 'types'] as const).map((tool) =>
    plants.filter(({ by }) => by === tool),
  )
  await Promise.all([
    lint(linted ?? []).then((output) => collect(complaints.lint, output, /^(.+?):\d+:\d+: (.+)$/)),
    checkTypes(typed ?? []).then((output) =>
      collect(complaints.types, output, /^(.+?)\(\d+,\d+\): (.+)$/),
    ),
  ])
}, 3 * TOOL_MS)

afterAll(() => Promise.all(copies.map((copy) => rm(copy, { recursive: true, force: true }))))

async function lint(planted: readonly Plant[]): Promise<string> {
  const copy = await copyRepository(planted)
  const paths = [...new Set(planted.map(({ path }) => path))]
  return runTool(copy, 'oxlint', ['-f', 'unix', ...paths])
}

async function checkTypes(planted: readonly Plant[]): Promise<string> {
  const copy = await copyRepository(planted)
  for (const folder of Object.keys(FORBIDDEN)) {
    const path = join(copy, 'src', foreignFile(folder))
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, 'export const one = 1\n')
  }
  const projects = new Set(planted.map(({ path }) => projectOf(path.split('/')[1] ?? '')))
  return runTool(copy, 'tsc', ['-b', ...projects, '--pretty', 'false'])
}

test.each(plants)('$by refuses $title in $path', ({ path, by, expected }) => {
  expect(complaints[by].get(path)?.join('\n') ?? 'no complaint').toMatch(expected)
})

// The declarations of one package would hold in all of a project.
test.each([
  { project: 'src/contract', folders: ['contract'], refused: /\/lib\.dom\.|\/@types\/node\// },
  { project: SERVERS, folders: SERVER_FOLDERS, refused: /\/lib\.dom\./ },
])(
  'nothing that $project imports brings types that it must not see',
  { timeout: TOOL_MS },
  async ({ project, folders, refused }) => {
    const read = (await runTool(ROOT, 'tsc', ['-p', project, '--listFilesOnly'])).split('\n')
    for (const folder of folders)
      expect(read.filter((path) => path.startsWith(join(ROOT, 'src', folder)))).not.toEqual([])
    expect(read.filter((path) => refused.test(path))).toEqual([])
  },
)

/** The project that checks a folder of `src`. */
function projectOf(folder: string): string {
  return SERVER_FOLDERS.includes(folder) ? SERVERS : `src/${folder}`
}

/** A file of no project for each folder: tsc complains once of each. */
function foreignFile(folder: string): string {
  return `testing/foreign/${folder}.ts`
}

function plant(
  folder: string,
  [title, source]: readonly [string, string],
  expected: RegExp,
): Plant {
  return {
    title,
    path: `src/${folder}/planted/${title.replaceAll(/[^a-z]+/gi, '-').toLowerCase()}.ts`,
    source,
    by: 'lint',
    expected,
  }
}

/** Next to the files of a folder, because the rule looks at where a relative path leads. */
function inside(folder: string, violation: readonly [string, string]): Plant {
  const plain = plant(folder, violation, imports)
  return { ...plain, path: plain.path.replace('/planted/', '/planted-') }
}

/**
 * Only the configuration and the violations: the tools read the text of an import and the folder of its file. It is a copy, so that people who work in
 * the repository do not see the violations. Its node_modules is a folder of links, because tsc writes its cache there.
 */
async function copyRepository(planted: readonly Plant[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'walls-'))
  copies.push(folder)
  for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json'])
    await cp(join(ROOT, name), join(folder, name))
  await cp(join(ROOT, 'src'), join(folder, 'src'), {
    recursive: true,
    filter: (path) =>
      statSync(path).isDirectory() || /\/(tsconfig(\.servers)?|import-rules)\.json$/.test(path),
  })
  await mkdir(join(folder, 'node_modules'))
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name !== '.cache')
      await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  for (const { path, source } of planted) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), `${source}\n`)
  }
  return folder
}

/** The tools fail where there are violations; what matters is their output. */
function runTool(cwd: string, tool: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      join(ROOT, 'node_modules/.bin', tool),
      args,
      { cwd, maxBuffer: 64 * 1024 * 1024, timeout: TOOL_MS, killSignal: 'SIGKILL' },
      (_error, stdout) => resolve(stdout),
    )
  })
}

function collect(into: Map<string, string[]>, output: string, line: RegExp): void {
  for (const text of output.split('\n')) {
    const [, path, complaint] = line.exec(text) ?? []
    if (path && complaint) into.set(path, [...(into.get(path) ?? []), complaint])
  }
}
