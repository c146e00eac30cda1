import { expect, test } from 'vitest'
import { inDoubles, readAsBody, readByPlatform, REFUSED_ON_PURPOSE } from './json-cases.ts'
import { readCheckout } from './read-vectors.ts'

/** The files of JSONTestSuite byte by byte; json.test.ts reads a copy that went through a text decoder. */
const cases = [...readCheckout('JSONTestSuite/test_parsing')].map(([path, bytes]) => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  bytes: Uint8Array.from(bytes),
}))

test('the suite is whole', () => {
  expect(cases).toHaveLength(318)
})

test.each(cases)('$name', async ({ name, bytes }) => {
  const reading = await readAsBody(bytes)
  const problem = REFUSED_ON_PURPOSE[name]
  if (problem !== undefined) expect(reading).toEqual({ accepted: false, problem })
  else if (name.startsWith('n_')) expect(reading).toMatchObject({ accepted: false })
  else if (name.startsWith('y_')) expect(reading).toMatchObject({ accepted: true })
  if (reading.accepted) expect({ value: inDoubles(reading.value) }).toEqual(readByPlatform(bytes))
})
