import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * `npm run --silent sbom > sbom.json`: the packages of a production install (`npm ci --omit=dev --omit=optional`) as a CycloneDX 1.5
 * document, read from package-lock.json. `npm sbom --omit dev` leaves out every package that a development dependency also
 * needs, as viem and pg are (https://github.com/npm/cli/issues/7909), so it is not used.
 */

const ROOT = join(import.meta.dirname, '../..')

/** An entry of package-lock.json, as far as it is read here. */
export type LockedPackage = {
  name?: string
  version?: string
  resolved?: string
  integrity?: string
  license?: string
  link?: boolean
  dev?: boolean
  optional?: boolean
  devOptional?: boolean
  hasInstallScript?: boolean
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}
/** By the folder a package is installed in; the project itself has the key ''. */
export type Lockfile = { packages: Record<string, LockedPackage> }

export function readLockfile(): Lockfile {
  return JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
}

/** `node_modules/a/node_modules/@b/c` is `@b/c`. */
export function packageName(path: string): string {
  return path.split('node_modules/').at(-1) ?? path
}

/** The CycloneDX document of a lockfile. The same lockfile gives the same text: there is no time and no random number in it. */
export function cycloneDxDocument({ packages }: Lockfile) {
  const project = packages[''] ?? {}
  const installed = new Map(
    Object.entries(packages).filter(([path, entry]) => path !== '' && isProduction(entry)),
  )
  const components = new Map(
    [...installed].map(([path, entry]) => [reference(path, entry), component(path, entry)]),
  )
  const needs = new Map<string, Set<string>>()
  for (const [path, entry] of [['', project] as const, ...installed]) {
    const from = reference(path, entry)
    const found = needs.get(from) ?? new Set()
    for (const name of Object.keys({ ...entry.dependencies, ...entry.peerDependencies })) {
      const target = resolve(path, name, installed)
      if (target !== undefined) found.add(target)
    }
    needs.set(from, found)
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...component('', project), type: 'application' } },
    components: [...components.values()].toSorted((a, b) => compare(a.purl, b.purl)),
    dependencies: [...needs]
      .toSorted(([a], [b]) => compare(a, b))
      .map(([ref, on]) => ({ ref, dependsOn: [...on].toSorted(compare) })),
  }
}

function isProduction({ dev, optional, devOptional, link }: LockedPackage): boolean {
  return !dev && !optional && !devOptional && !link
}

function component(path: string, entry: LockedPackage) {
  const digest = entry.integrity?.replace(/^sha512-/, '')
  return {
    'bom-ref': reference(path, entry),
    type: 'library',
    name: entry.name ?? packageName(path),
    version: entry.version,
    purl: reference(path, entry),
    ...(digest && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    ...(entry.license && { licenses: [{ expression: entry.license }] }),
  }
}

/** The package URL: a version that is installed in several folders is one component. */
function reference(path: string, { name = packageName(path), version }: LockedPackage): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

/** The package that `name` means inside of the folder `from`, found as Node finds it: there, then in the folders above. */
function resolve(
  from: string,
  name: string,
  installed: ReadonlyMap<string, LockedPackage>,
): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('node_modules/'))) {
    folder = folder.replace(/\/$/, '')
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    const entry = installed.get(path)
    if (entry) return reference(path, entry)
    if (folder === '') return undefined
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

if (import.meta.main)
  process.stdout.write(`${JSON.stringify(cycloneDxDocument(readLockfile()), null, 2)}\n`)
