import { execFile } from 'node:child_process'
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

/**
 * What each folder must not import. The file exists, so that only the boundary can be the
 * complaint.
 */
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

/** A type checker over everything, next to other tests that need the CPU. */
const TOOL_MS = 240_000

let copy = ''
const complaints = { lint: new Map<string, string[]>(), types: new Map<string, string[]>() }

beforeAll(async () => {
  copy = await copyRepository()
  for (const { path, source } of plants) {
    await mkdir(dirname(join(copy, path)), { recursive: true })
    await writeFile(join(copy, path), `${source}\n`)
  }
  for (const folder of Object.keys(FORBIDDEN)) {
    const path = join(copy, 'src', foreignFile(folder))
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, 'export const one = 1\n')
  }
  const planted = [...new Set(plants.filter(({ by }) => by === 'lint').map(({ path }) => path))]
  collect(
    complaints.lint,
    await runTool('oxlint', ['-f', 'unix', ...planted]),
    /^(.+?):\d+:\d+: (.+)$/,
  )
  collect(
    complaints.types,
    await runTool('tsc', ['-b', '--pretty', 'false']),
    /^(.+?)\(\d+,\d+\): (.+)$/,
  )
}, 3 * TOOL_MS)

afterAll(() => rm(copy, { recursive: true, force: true }))

test.each(plants)('$by refuses $title in $path', ({ path, by, expected }) => {
  expect(complaints[by].get(path)?.join('\n') ?? 'no complaint').toMatch(expected)
})

/**
 * A file of another project for each folder, since tsc complains once of each, and one that imports nothing: types of Node would come with
 * it.
 */
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
 * A copy, so that people working in the repository do not see the violations. Its node_modules is a
 * folder of links, because tsc keeps its cache there.
 */
async function copyRepository(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'walls-'))
  for (const name of [
    'src',
    'e2e',
    '.oxlintrc.json',
    'tsconfig.json',
    'package.json',
    'vite.config.ts',
  ])
    await cp(join(ROOT, name), join(folder, name), { recursive: true })
  await mkdir(join(folder, 'node_modules'))
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name !== '.cache')
      await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  return folder
}

/** Both tools must fail here; what matters is their output. */
function runTool(tool: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      join(ROOT, 'node_modules/.bin', tool),
      args,
      { cwd: copy, maxBuffer: 64 * 1024 * 1024, timeout: TOOL_MS, killSignal: 'SIGKILL' },
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
