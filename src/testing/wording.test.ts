import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Plain English: phrases that a reader would stumble over, in comments. */

const ROOT = join(import.meta.dirname, '../..')

const PHRASES =
  /\b(?:for good|for ever|carr(?:y|ied|ies|ying) out|take[ns]? back|took back|tried out on|of its own|in your place|anew|whoever|somebody else|lets it go on|what stands here|the way there|pays the network(?! fee))\b/i
const COMMENT = /(?<!:)\/\/.*|\/\*[^]*?\*\//g

const paths = (
  await Promise.all(
    ['src', 'e2e'].map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((path) => `${folder}/${path}`),
    ),
  )
)
  .flat()
  .filter((path) => /\.(ts|tsx|mjs|css)$/.test(path) && !path.endsWith('wording.test.ts'))

/** The comments of a file, without the marks of their lines. */
function commentsOf(text: string): string[] {
  return [...text.matchAll(COMMENT)].map(([comment]) => comment.replaceAll(/\s*\n\s*\*?\s*/g, ' '))
}

test('no comment uses a phrase that the project has plainer words for', async () => {
  const found = await Promise.all(
    paths.map(async (path) =>
      commentsOf(await readFile(join(ROOT, path), 'utf8')).flatMap((comment) => {
        const [phrase] = PHRASES.exec(comment) ?? []
        return phrase === undefined ? [] : [`${path}: ${phrase}`]
      }),
    ),
  )
  expect(paths.length).toBeGreaterThan(1_000)
  expect(found.flat()).toEqual([])
})

test.each([
  '/** It is kept for\n * ever. */',
  '// Whoever pays, waits.',
  '/* The proof was taken\n   back. */',
])('finds the phrase in %j', (comment) => {
  expect(commentsOf(comment).some((each) => PHRASES.test(each))).toBe(true)
})
