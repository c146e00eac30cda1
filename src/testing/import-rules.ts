/**
 * Who may import whom. The linter's part, `src/testing/import-rules.json`, is written from these tables by `node src/testing/import-rules.ts`, and
 * `.oxlintrc.json` extends it. `import-rules.test.ts` compares the two, and follows what the linter cannot see: dynamic imports, and circles.
 */

/** A folder of `src` and the others of which it may import anything, by their alias. */
type Program = {
  may: readonly string[]
  /**
   * Its folders, the lowest first: each may import itself and those before it, types and dynamic imports included. None of a list in the list imports
   * another of it. Files beside the folders may import any.
   */
  layers?: readonly (string | readonly string[])[]
}

export const PROGRAMS: Readonly<Record<string, Program>> = {
  contract: { may: [] },
  x402: { may: ['contract'] },
  chains: { may: ['contract', 'x402'] },
  egress: { may: [] },
  http: { may: ['contract'] },
  postgres: { may: [] },
  signer: { may: ['contract', 'x402', 'chains'] },
  service: {
    may: ['contract', 'x402', 'chains', 'egress', 'http', 'postgres', 'signer'],
    layers: [
      'db',
      'limits',
      'chains',
      'context',
      'idempotency',
      'wallets',
      'keys',
      'usage',
      'payments',
      'payments/list',
      'reconciliation',
      'hosted',
      'refunds',
      'verification',
      'settlement',
      'settlement/self',
      'monitor',
      'events',
      'webhooks',
      'openapi',
      'api',
      'api/events',
      'conformance',
      'admin',
    ],
  },
  bff: {
    may: ['contract', 'x402', 'chains', 'egress', 'http', 'postgres', 'signer'],
    layers: [
      'db',
      'budget',
      'config',
      'upstream',
      'rates',
      'events',
      'context',
      'http',
      'session',
      'relay',
      'hosted',
      'links',
      'files',
      'mail',
      'routes',
    ],
  },
  web: {
    may: ['contract', 'x402', 'chains'],
    layers: [
      'local-data',
      'locales',
      'router',
      'payment-uris',
      'payment-intent',
      'ui',
      'api',
      'rpc',
      'errors',
      'wallet',
      'approval',
      'payment-flow',
      'payment-view',
      'session',
      'shell',
      'palette',
      [
        'balances',
        'checkout',
        'customers',
        'developers',
        'explore',
        'files',
        'invoices',
        'links',
        'overview',
        'payment',
        'payments',
        'people',
        'products',
        'settings',
        'verify',
      ].map((page) => `pages/${page}`),
      'app',
      'build',
    ],
  },
  devnet: { may: ['contract', 'x402', 'chains', 'service', 'signer', 'bff', 'postgres'] },
}

/** `files`: folders, or the files of one. */
type Ban = {
  files: readonly string[]
  pattern: { regex: string; allowTypeImports?: true } | { group: readonly string[] }
  message: string
}

/** Of `src/contract`, what only servers read: browsers would load request schemas and documentation. */
export const SERVER_ONLY: readonly string[] = ['endpoints', 'browser-endpoints', 'problem']

/** What a part must not import beside that. */
export const BANS: readonly Ban[] = [
  {
    files: ['src/chains/evm', 'src/service/chains/evm'],
    pattern: { regex: '(^|/)solana/|^@solana/' },
    message: 'The two chains never import each other.',
  },
  {
    files: ['src/chains/solana', 'src/service/chains/solana'],
    pattern: { regex: '(^|/)evm/|^viem' },
    message: 'The two chains never import each other.',
  },
  {
    files: ['src/service', 'src/devnet'],
    pattern: { regex: String.raw`^#signer/(?!(client|config|protocol)\.ts$)` },
    message: 'The keys of managed wallets are in another process: only its client is imported.',
  },
  {
    files: ['src/bff'],
    pattern: { regex: String.raw`^#signer/(?!(seal|vaults)\.ts$)` },
    message: 'The proxy has a separate key for sealing, and reaches no wallet.',
  },
  {
    files: ['src/service/api/handlers.ts'],
    pattern: { regex: String.raw`^(\.\./|#service/)(db|chains)/|^drizzle-orm` },
    message: 'A handler calls a function of the service: no SQL, no chain.',
  },
  {
    files: ['src/web'],
    pattern: { regex: `^#contract/(${SERVER_ONLY.join('|')})\\.ts$`, allowTypeImports: true },
    message: 'Browsers read calls.ts and problem-codes.ts instead; types may come from here.',
  },
  {
    files: ['src/web/ui'],
    pattern: { regex: '^#(web|chains)/|^@tanstack/react-query|^wagmi|^viem|^@solana/' },
    message: 'The components of src/web/ui know no query and no wallet.',
  },
  {
    files: [
      'shell',
      'session',
      'router',
      'api',
      'app',
      'pages/overview',
      'pages/payments',
      'pages/payment',
      'pages/settings',
    ].map((folder) => `src/web/${folder}`),
    pattern: {
      group: [
        '**/wallet/**',
        '!**/wallet/state/accounts.ts',
        '!**/wallet/state/remembered.ts',
        '!**/wallet/load-adapter.ts',
        '!**/wallet/dialog/ConnectDialog.tsx',
        'viem',
        'viem/**',
        'wagmi',
        'wagmi/**',
        '@solana/**',
      ],
    },
    message:
      'What every page shows loads no wallet code at its start: only what fetches the rest when it is needed.',
  },
]

type Pattern = {
  regex?: string
  group?: readonly string[]
  allowTypeImports?: true
  message: string
}
export type Override = {
  files: string[]
  rules: { 'no-restricted-imports': ['error', { patterns: Pattern[] }] }
}

/** For the linter, the general before the special: a later override replaces an earlier one. */
export function lintOverrides(): Override[] {
  const folders = Object.entries(PROGRAMS).flatMap(([name, { layers = [] }]) => [
    `src/${name}`,
    ...layers.flat().map((layer) => `src/${name}/${layer}`),
  ])
  const all = [...new Set([...folders, ...BANS.flatMap(({ files }) => files)])]
  return all.map((folder) => ({
    files: [folder.endsWith('.ts') ? folder : `${folder}/**`],
    rules: { 'no-restricted-imports': ['error', { patterns: patternsOf(folder) }] },
  }))
}

function patternsOf(folder: string): Pattern[] {
  const [, name = '', ...rest] = folder.split('/')
  const { may, layers = [] } = PROGRAMS[name] ?? { may: [] }
  const others = Object.keys(PROGRAMS)
    .concat('testing')
    .filter((other) => other !== name)
  const above = layersAbove(layers, rest.join('/'))
  const bans = BANS.filter(({ files }) =>
    files.some((banned) => folder === banned || folder.startsWith(`${banned}/`)),
  )
  return [
    {
      regex: String.raw`^\.{1,2}/(.*/)?\.\./src/|^(\.\./){2,}(${others.filter((other) => !layers.flat().some((layer) => layer.split('/').includes(other))).join('|')})/|^\.\./(${others.filter((other) => rest.length === 0 || !layers.flat().includes(other)).join('|')})/|/src/`,
      message:
        'Another program is imported by its alias, #folder/file.ts, where the table allows it.',
    },
    ...(above.length === 0
      ? []
      : [
          {
            regex: regexOf(name, rest.join('/'), above),
            message: `${folder} may import only what stands before it in src/testing/import-rules.ts.`,
          },
        ]),
    ...bans.map(({ pattern, message }) => ({ ...pattern, message })),
    // Last: the linter stops at the first list that allows an import.
    {
      group: ['#*/**', `!#${name}/**`, ...may.map((other) => `!#${other}/**`)],
      message:
        may.length === 0
          ? `src/${name} imports nothing else of ours.`
          : `src/${name} may import only ${may.map((other) => `#${other}`).join(', ')} of ours.`,
    },
  ]
}

/** The folders that a folder of a program may not import. */
export function layersAbove(layers: NonNullable<Program['layers']>, layer: string): string[] {
  const rank = layers.findIndex((each) => [each].flat().includes(layer))
  if (rank < 0) return []
  return layers.flatMap((each, index) =>
    index < rank ? [] : [each].flat().filter((other) => other !== layer),
  )
}

/** Specifiers from anywhere in a layer into one of these. */
function regexOf(program: string, layer: string, above: readonly string[]): string {
  const inner = above.flatMap((other) =>
    other.startsWith(`${layer}/`) ? [other.slice(layer.length + 1)] : [],
  )
  const parent = layer.includes('/') ? layer.slice(0, layer.lastIndexOf('/') + 1) : undefined
  const beside = above.flatMap((other) =>
    parent !== undefined && other.startsWith(parent) ? [other.slice(parent.length)] : [],
  )
  const up = String.raw`(?:(?:\.\./)+|#${program}/)(?:${above.join('|')})/`
  return [
    `^${up}`,
    ...(inner.length > 0 ? [String.raw`^\./(?:${inner.join('|')})/`] : []),
    ...(beside.length > 0 ? [String.raw`^\.\./(?:${beside.join('|')})/`] : []),
  ].join('|')
}

/** The linter's file: one line a folder. */
export function lintText(): string {
  return `{"overrides": [\n${lintOverrides()
    .map((override) => JSON.stringify(override))
    .join(',\n')}\n]}\n`
}

if (import.meta.main) {
  const { writeFile } = await import('node:fs/promises')
  await writeFile(new URL('import-rules.json', import.meta.url), lintText())
}
