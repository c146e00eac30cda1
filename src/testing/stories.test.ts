import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { readMessages } from './interface-messages.ts'

/** What holds for all browser stories, told in seconds: without a browser. */

const E2E = new URL('../../e2e/', import.meta.url)
const HELPER_CALL = /\b(?:text|textLike|startingWith)\(\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/g
const ONE_OF_CALL = /\boneOf\(\s*\[([^\]]*)\]/g
const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g
const RANDOM_SOURCE =
  /generatePrivateKey|Keypair\.generate|randomUUID|getRandomValues|randomBytes\b.*node:crypto|Math\.random/

const sources = new Map<string, string>()

beforeAll(async () => {
  const paths = (await readdir(E2E, { recursive: true })).filter((path) => path.endsWith('.ts'))
  for (const path of paths) sources.set(path, await readFile(new URL(path, E2E), 'utf8'))
})

test('each text of the interface that a story names is in the English catalogs', () => {
  const messages = readMessages()
  const named = [...sources].flatMap(([path, source]) =>
    namedTexts(source).map((message) => ({ path, message })),
  )
  expect(named.length).toBeGreaterThan(400)
  expect(named.filter(({ message }) => !messages.has(message))).toEqual([])
})

test('stories take random values from the seeded source alone', () => {
  // The seed itself is chosen at random.
  const others = [...sources].filter(([path]) => path !== 'playwright.config.ts')
  expect(others.filter(([, source]) => RANDOM_SOURCE.test(source)).map(([path]) => path)).toEqual(
    [],
  )
})

function namedTexts(source: string): string[] {
  const single = [...source.matchAll(HELPER_CALL)].map(([, literal = '']) => literal)
  const listed = [...source.matchAll(ONE_OF_CALL)].flatMap(
    ([, list = '']) => list.match(QUOTED) ?? [],
  )
  return [...single, ...listed].map((literal) => literal.slice(1, -1).replaceAll(/\\(.)/g, '$1'))
}
