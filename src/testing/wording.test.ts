import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSync, Visitor } from 'vite'
import { expect, test } from 'vitest'
import { readMessages } from './interface-messages.ts'

/**
 * Plain English: phrases that a reader would stumble over, in comments, strings, templates and JSX
 * text. Messages of the interface, errors, logs and test titles are among these.
 */

const ROOT = join(import.meta.dirname, '../..')

const PHRASES =
  /\b(?:for good|for ever|carr(?:y|ied|ies|ying) out|tak(?:e|es|en|ing) back|took back|tried out on|of its own|in your place|anew|whoever|somebody else|lets it go on|what stands here|the way there|pays the network(?! fee)|nodes of each network|(?<![/.-])desks?(?![/-]))\b/i
const CSS_COMMENT = /\/\*[^]*?\*\//g
/** A key, a path, an address or a name: nobody reads it as English. */
const VALUE = /^[a-z\d_./:-]*$/

const paths = (
  await Promise.all(
    ['src', 'e2e', 'bench'].map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((path) => `${folder}/${path}`),
    ),
  )
)
  .flat()
  .filter((path) => /\.(ts|tsx|mjs|css)$/.test(path) && !path.endsWith('wording.test.ts'))

/** What a person reads in a file, each text on one line. Code quoted in comments is left out. */
function textsOf(path: string, source: string): string[] {
  if (path.endsWith('.css'))
    return [...source.matchAll(CSS_COMMENT)].map(([comment]) => commentText(comment))
  const { program, comments, errors } = parseSync(path, source)
  if (errors[0]) throw new Error(`${path} does not parse: ${errors[0].message}`)
  const literals: string[] = []
  new Visitor({
    Literal: ({ value }) => void (typeof value === 'string' && literals.push(value)),
    TemplateElement: ({ value }) => void literals.push(value.cooked ?? value.raw),
    JSXText: ({ value }) => void literals.push(value),
  }).visit(program)
  return [
    ...comments.map(({ value }) => commentText(value)),
    ...literals.filter((literal) => !VALUE.test(literal)).map(oneLine),
  ]
}

/** Without the marks of its lines. */
function commentText(comment: string): string {
  return oneLine(comment.replaceAll(/\n\s*\*/g, '\n').replaceAll(/`[^`]*`/g, '`'))
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

/** Parsing takes a hundred times as long, and most files hold none however they are read. */
function mayHoldPhrase(source: string): boolean {
  return PHRASES.test(oneLine(source.replaceAll(/\n\s*\*|\\[nrt]/g, '\n')))
}

function phrasesIn(path: string, source: string): string[] {
  if (!mayHoldPhrase(source)) return []
  return textsOf(path, source).flatMap((text) => PHRASES.exec(text) ?? [])
}

test('no text uses a phrase that the project has plainer words for', async () => {
  const found = await Promise.all(
    paths.map(async (path) =>
      phrasesIn(path, await readFile(join(ROOT, path), 'utf8')).map(
        (phrase) => `${path}: ${phrase}`,
      ),
    ),
  )
  expect(paths.length).toBeGreaterThan(800)
  expect(found.flat()).toEqual([])
  // It reads all sources, beside other tests.
}, 60_000)

/** A new text beyond it needs a shorter one elsewhere. */
const MOST_WORDS = 7000
const MOST_WORDS_IN_A_SENTENCE = 18

/** A value or an element counts as one word. */
function countWords(text: string): number {
  return text
    .replaceAll(/<[^>]+>|\{[^}]*\}/g, 'x ')
    .split(/\s+/)
    .filter((word) => word !== '').length
}

function longSentencesIn(message: string): string[] {
  return message
    .split(/(?<=[.!?…])\s+/)
    .filter((sentence) => countWords(sentence) > MOST_WORDS_IN_A_SENTENCE)
}

test('no text of the English catalogs uses a phrase that the project has plainer words for', () => {
  expect([...readMessages()].filter((message) => PHRASES.test(message))).toEqual([])
})

test(`no sentence of the English catalogs has over ${MOST_WORDS_IN_A_SENTENCE} words`, () => {
  expect([...readMessages()].flatMap(longSentencesIn)).toEqual([])
  expect(longSentencesIn(`Short. ${'word '.repeat(18)}end.`)).toHaveLength(1)
})

test(`the English catalogs have at most ${MOST_WORDS} words`, () => {
  const words = [...readMessages()].map(countWords)
  expect(words.length).toBeGreaterThan(1500)
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MOST_WORDS)
})

test.each([
  ['a comment', 'a.ts', '/** It is kept for\n * ever. */', 'for ever'],
  ['a comment in a line', 'a.ts', '// Whoever pays, waits.', 'Whoever'],
  ['a comment in a style', 'a.css', '/* The proof was taken\n   back. */', 'taken back'],
  [
    'a thrown text',
    'a.ts',
    "throw new Error('This proof has no message to carry out.')",
    'carry out',
  ],
  ['a test title', 'a.ts', "test('the desk answers', run)", 'desk'],
  ['a template', 'a.ts', 'log(`${name} was tried out on ${network}`)', 'tried out on'],
  ['a text with a line break', 'a.ts', "log('Paid for\\never.')", 'for ever'],
  ['a message', 'a.ts', 'const title = msg`Paid, for good`', 'for good'],
  ['a text in JSX', 'a.tsx', '<p>\n  Somebody\n  else pays.\n</p>', 'Somebody else'],
  ['an attribute in JSX', 'a.tsx', '<Row name="The way there" />', 'The way there'],
])('finds a phrase in %s', (_, path, source, phrase) => {
  expect(phrasesIn(path, source)).toEqual([phrase])
})

test.each([
  ['the plain phrase', "log('Your wallet pays the network fee.')"],
  ['a value', "const owner = 'desk'"],
  ['a path', "open('https://pay.example/desk/pay/abc?x=1')"],
  ['code in a comment', '// The owner is `desk` for all operators.'],
])('lets %s pass', (_, source) => {
  expect(phrasesIn('a.ts', source)).toEqual([])
})
