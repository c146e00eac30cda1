import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fixture } from '#testing/fixture.ts'
import type { RateRule } from '../config/rate-rules.ts'

/** What every checkout asks: the worth of the assets now. */

const START = Date.now()
let fixture: Fixture
let offset = 0
let asked = 0
const waiting: ServerResponse[] = []
const source = createServer((request, response) => {
  asked++
  if (request.url === '/hangs') waiting.push(response)
  else response.end('{"price":"2500"}')
})

beforeAll(async () => {
  await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
  const host = `http://127.0.0.1:${(source.address() as AddressInfo).port}`
  const rateOf = (asset: string, name: string): RateRule => ({
    asset,
    currency: 'USD',
    maxDeviationPercent: '2',
    sources: [{ kind: 'http', url: `${host}/${name}`, path: ['price'], maxAgeSeconds: 60 }],
  })
  fixture = await Fixture.open({
    bff: { rates: [rateOf('ETH', 'price'), rateOf('SOL', 'hangs')] },
    overrides: { now: () => new Date(START + offset) },
  })
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  for (const response of waiting) response.destroy()
  source.close()
})

async function visit(): Promise<unknown> {
  const { status, text, json } = await fixture.browser().get('/api/rates')
  expect(status, text).toBe(200)
  return json
}

test('fifty visitors cost each source one read in 15 seconds, and wait 3 seconds for one that hangs', async () => {
  const told = { currency: 'USD', rates: { ETH: '2500' } }
  const begun = performance.now()
  const answers = await Promise.all(Array.from({ length: 50 }, visit))
  for (const answer of answers) expect(answer).toEqual(told)
  expect(performance.now() - begun).toBeLessThan(6000)
  expect(asked).toBe(2)
  offset = 14_999
  expect(await visit()).toEqual(told)
  expect(asked).toBe(2)
  offset = 15_000
  expect(await visit()).toEqual(told)
  expect(asked).toBe(4)
})
