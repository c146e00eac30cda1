import { expect, test } from 'vitest'
import * as v from 'valibot'
import { boundedText, metadata, storedText } from '#contract/fields.ts'
import { printableText } from '#service/chains/contracts.ts'
import { cleanText } from '#web/local-data/clean-text.ts'
import { readAsBody } from './json-cases.ts'
import { readVendored } from './read-vectors.ts'

const strings = readVendored('naughty-strings/blns.json', v.array(v.string())).map(
  (text, index) => ({
    name: `${index} ${JSON.stringify(text.slice(0, 30))}`,
    text,
  }),
)
const send = async (value: unknown) => readAsBody(new TextEncoder().encode(JSON.stringify(value)))

/** By Unicode's own property, and the characters without a width that are no part of an emoji. */
const REORDERING = /\p{Bidi_Control}/u
const WITHOUT_WIDTH = /[\u00ad\u200b\u200c\u2060-\u2064\ufeff]/u

test('the list is whole', () => {
  expect(strings).toHaveLength(485)
})

test.each(strings)('metadata: $name comes back as it was sent', async ({ text }) => {
  const value = { note: text, list: [text] }
  const reading = await send(value)
  expect(reading).toMatchObject({ accepted: true })
  const result = v.safeParse(metadata, reading.accepted && reading.value)
  expect(result.output).toEqual(value)
  expect(reading.accepted && JSON.parse(reading.text)).toEqual(value)
})

test.each(strings)('as a key: $name comes back, or is refused by name', async ({ text }) => {
  const reading = await send(Object.fromEntries([[text, 1]]))
  if (reading.accepted) expect(JSON.parse(reading.text)).toEqual(Object.fromEntries([[text, 1]]))
  else expect(reading.problem).toBe(`The body is not valid: The key "${text}" is not allowed.`)
})

test.each(strings)('a text field: $name comes back, or the refusal says why', ({ text }) => {
  for (const schema of [boundedText(300), storedText(300)]) {
    const result = v.safeParse(schema, text)
    if (result.success) expect(result.output).toBe(text)
    else
      expect(result.issues[0].message).toMatch(
        /^Expected (some text|at most 300 characters|text without a (NUL|null) character)\.$/,
      )
  }
})

test.each(strings)('on the page: $name has nothing that hides or reorders', ({ text }) => {
  const { text: clean, removed } = cleanText(text)
  expect(clean).not.toMatch(REORDERING)
  expect(clean).not.toMatch(WITHOUT_WIDTH)
  expect([...text].length - [...clean].length).toBe(removed)
  expect(cleanText(clean)).toEqual({ text: clean, removed: 0 })
  expect(printableText(text) ?? '').not.toMatch(REORDERING)
  expect(printableText(text) ?? '').not.toMatch(WITHOUT_WIDTH)
})
