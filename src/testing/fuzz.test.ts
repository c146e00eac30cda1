import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fuzzer, type FuzzReport } from './fuzz/run-fuzz.ts'

/** The short form of `npm run fuzz`, and departures that it notices. */

const SEED = 20_261_123

function problemsOf({ problems }: FuzzReport): string[] {
  return [...problems].map(([problem, { count, example }]) => `${count} x ${problem}: ${example}`)
}

let fuzzer: Fuzzer

beforeAll(async () => {
  fuzzer = await Fuzzer.open()
})

afterAll(() => fuzzer?.[Symbol.asyncDispose]())

test('an answer that departs from its description is noticed', async () => {
  let seen = 0
  const report = await fuzzer
    .run({
      seed: SEED,
      requests: 120,
      plant: ({ status, text }, secret) => {
        switch (seen++) {
          case 20:
            return { status: 500, text: text.replace(/"code":"\w+"/, '"code":"INTERNAL"') }
          case 40:
            return { status, text: text.replace('"success"', '"succeeded"') }
          case 60:
            return { status, text: `${text} ${secret}` }
          case 80:
            Reflect.defineProperty(Object(Reflect.getPrototypeOf({})), 'polluted', {
              value: 1,
              configurable: true,
            })
            return { status, text }
          default:
            return { status, text }
        }
      },
    })
    .finally(() => Reflect.deleteProperty(Object.prototype, 'polluted'))
  const problems = problemsOf(report).join('\n')
  expect(problems).toMatch(/: 500 /)
  expect(problems).toMatch(/success/)
  expect(problems).toMatch(/contains a secret/)
  expect(problems).toMatch(/Object\.prototype was changed/)
})

test(
  '2,500 requests from the description of the API get answers as described',
  { timeout: 240_000 },
  async () => {
    const report = await fuzzer.run({ seed: SEED, requests: 2_500 })
    expect(problemsOf(report)).toEqual([])
    expect(report.requests).toBe(2_500)
    // Requests that are all refused at the door test the door only.
    expect(report.succeeded.size).toBeGreaterThan(30)
  },
)
