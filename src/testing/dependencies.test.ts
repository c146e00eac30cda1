import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

/**
 * A production install (`npm ci --omit=dev --omit=optional`) has what the service and the proxy import, and nothing of the browser.
 * So the imports of both programs are followed from their entry points and compared with package.json.
 */

const ROOT = join(import.meta.dirname, '../..')
const SCRIPTS = ['start:service', 'start:bff', 'signer', 'admin', 'conformance']
/** Runs the programs; no file imports it. */
const RUNTIME = 'node'
/** An import, an export from elsewhere, a lazy import, or a file of a package that is served as it is. */
const IMPORT =
  /^(?:import|export)[\w\s{},*$]*?\sfrom\s'([^']+)'|^import\s'([^']+)'|\bimport\('([^']+)'\)|\bimport\.meta\.resolve\('([^']+)'\)/gm

type Manifest = {
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}
const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const entries = SCRIPTS.map((name) =>
  join(ROOT, /^node (\S+)$/.exec(manifest.scripts[name] ?? '')?.[1] ?? name),
)

/** By package: the production files that import it. */
const imported = followImports(entries)

test('each package that the service or the proxy imports is one of the dependencies', () => {
  const missing = [...imported]
    .filter(([name]) => !(name in manifest.dependencies))
    .map(([name, files]) => `${name}: ${files.join(', ')}`)
  expect(missing).toEqual([])
})

test('each of the dependencies is imported by the service or the proxy, or runs them', () => {
  expect(
    Object.keys(manifest.dependencies).filter((name) => name !== RUNTIME && !imported.has(name)),
  ).toEqual([])
})

test('a full install has the libraries of the browser and of the tests', () => {
  const named = [
    'react',
    'vite',
    '@tanstack/react-query',
    'wagmi',
    '@solana/wallet-adapter-react',
    'tailwindcss',
    '@playwright/test',
  ]
  expect(named.filter((name) => !(name in manifest.devDependencies))).toEqual([])
})

function followImports(files: readonly string[]): Map<string, string[]> {
  const packages = new Map<string, string[]>()
  const open = [...files]
  const seen = new Set(open)
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    for (const [, ...names] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const name = names.find((each) => each !== undefined) ?? ''
      const local = name.startsWith('#')
        ? join(ROOT, 'src', name.slice(1))
        : name.startsWith('.')
          ? join(dirname(file), name)
          : undefined
      if (local === undefined) {
        if (!name.startsWith('node:'))
          packages.set(packageOf(name), [
            ...(packages.get(packageOf(name)) ?? []),
            relative(ROOT, file),
          ])
      } else if (!seen.has(local) && existsSync(local)) {
        seen.add(local)
        open.push(local)
      }
    }
  }
  return packages
}

/** `@scope/name/file` belongs to `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
