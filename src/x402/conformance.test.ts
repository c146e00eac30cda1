import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const text = readFileSync(new URL('CONFORMANCE.md', import.meta.url), 'utf8')
const rows = [
  ...text.matchAll(/^\|(?<demand>[^|]+)\|\s*`(?<file>[^`]+\.test\.ts)`\s*\|(?<name>[^|]+)\|$/gm),
].map(({ groups }) => ({
  demand: groups?.demand?.trim() ?? '',
  file: groups?.file ?? '',
  name: groups?.name?.trim() ?? '',
}))

test('every demand of the scheme names a test', () => {
  expect(rows.length).toBeGreaterThan(45)
})

test.each(rows)('$demand', ({ file, name }) => {
  const source = readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8')
  expect(source.replaceAll('’', "'")).toContain(name)
})
