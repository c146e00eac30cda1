import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { CATALOGS } from './pages.ts'

const ROOT = join(import.meta.dirname, '../../..')
const LOADER = /(\w+): \(\) =>\s+import\('\.\.\/(pages\/[^']+)'\)/g
const STATIC = /(?:^|\n)\s*import\s+(?!type\b)[^'"]*?from\s+['"]([^'"]+)['"]/g
/** Lazy parts of a page: what they show is shown on the page. Others load their catalogs themselves. */
const LAZY = /lazy\(\s*\(\) =>\s*import\(\s*'([^']+)'/g
const LAZY_SELF = /payment-flow|payment-intent|wallet/

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** All of src/web that is there once a page is shown. */
function reachedFrom(entry: string): Set<string> {
  const seen = new Set<string>()
  const waiting = [entry]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (
      seen.has(path) ||
      !path.startsWith('src/web/') ||
      !/\.tsx?$/.test(path) ||
      !existsSync(join(ROOT, path))
    )
      continue
    seen.add(path)
    const text = read(path)
    const lazy = [...text.matchAll(LAZY)].filter(([, specifier = '']) => !LAZY_SELF.test(specifier))
    for (const [, specifier = ''] of [...text.matchAll(STATIC), ...lazy]) {
      if (specifier.startsWith('.')) waiting.push(normalize(join(dirname(path), specifier)))
    }
  }
  return seen
}

/** The catalog of a file's texts, as `src/web/locales/lingui.config.ts` divides them; undefined for those of every page. */
function catalogOf(path: string): string | undefined {
  if (!/@lingui\/(core|react)\/macro/.test(read(path))) return undefined
  if (
    /^src\/web\/(approval|payment-flow|payment-intent|wallet)\/|^src\/web\/errors\/(error-messages|refusals|.*-reasons)\.ts$/.test(
      path,
    )
  )
    return 'paying'
  if (path.startsWith('src/web/payment-view/')) return 'payment-view'
  return /^src\/web\/pages\/([^/]+)\//.exec(path)?.[1]
}

const entries = [...read('src/web/app/pages.ts').matchAll(LOADER)].map(
  ([, name = '', path = '']) => [name, `src/web/${path}`] as const,
)

test('every page has an entry', () => {
  expect(entries.map(([name]) => name).toSorted()).toEqual(Object.keys(CATALOGS).toSorted())
})

test.each(entries)('%s loads the catalogs of what it shows, and no other', (name, entry) => {
  const needed = new Set([...reachedFrom(entry)].flatMap((path) => catalogOf(path) ?? []))
  expect([...needed].toSorted()).toEqual(
    [...(CATALOGS[name as keyof typeof CATALOGS] ?? [])].toSorted(),
  )
})
