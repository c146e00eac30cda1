import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PublicKey } from '@solana/web3.js'
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aggregatorCode, type Aggregator } from '#devnet/tokens/evm.ts'
import {
  startEvm,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from '#testing/local-chains.ts'
import type { RateRule, RateSourceRule } from '../config/rate-rules.ts'
import { Exchanger } from '../upstream/exchange.ts'
import { Rates } from './rates.ts'

const FEED = 'ff61491a931112ddf1bd8147cd1b641375f79f5825126d665480874634fd0ace'
const RECEIVER = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ'
const AGGREGATOR = '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419'
const START = Date.parse('2026-01-01T00:00:00Z')
const seconds = (ms: number) => BigInt(Math.floor(ms / 1000))

const exchanger = new Exchanger()
const account = PublicKey.unique().toBase58()
let evm: EvmFixture
let solana: SolanaFixture
let now = START
let body = ''
let asked = 0
let hangs = false
const web = createServer((_, response) => {
  asked++
  if (!hangs) response.end(body)
})
let url = ''

beforeAll(async () => {
  ;[evm, solana] = await Promise.all([
    startEvm({ slotsInEpoch: 1 }),
    startSolana({ slotTimeMs: 50 }),
  ])
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/rate`
})
beforeEach(() => {
  now = START
  asked = 0
  hangs = false
})
afterAll(async () => {
  exchanger.close()
  web.close()
  await evm?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
})

function ratesOf(...rules: (Partial<RateRule> & { sources: RateSourceRule[] })[]): Rates {
  return new Rates(
    rules.map((rule) => ({ asset: 'ETH', currency: 'USD', maxDeviationPercent: '2', ...rule })),
    {
      networks: [evm.network, solana.network],
      exchanger,
      now: () => now,
      log: pino({ level: 'silent' }),
    },
  )
}

const fixed = (rate: string): RateSourceRule => ({
  kind: 'fixed',
  rate,
  since: '2026-01-01T00:00:00Z',
})
const chainlink = (): RateSourceRule => ({
  kind: 'chainlink',
  network: evm.network.network,
  address: AGGREGATOR,
  maxAgeSeconds: 3600,
})
const pyth = (): RateSourceRule => ({
  kind: 'pyth',
  network: solana.network.network,
  account,
  feed: FEED,
  maxAgeSeconds: 60,
})
const http = (more: object = {}): RateSourceRule => ({
  kind: 'http',
  url,
  path: ['data', '0', 'price'],
  maxAgeSeconds: 60,
  ...more,
})

const aggregate = (more: Partial<Aggregator> = {}) =>
  evm.setCode(
    AGGREGATOR,
    aggregatorCode({
      answer: 250_012_345_678n,
      decimals: 8,
      round: 110_680_464_442_257_320_247n,
      updatedAt: seconds(START - 60_000),
      ...more,
    }),
  )

type Price = {
  price: bigint
  confidence: bigint
  exponent: number
  publishedAt: bigint
  level: number
  feed: string
  owner: string
}

/** Writes an account as Pyth's receiver does: `PriceUpdateV2` in borsh. */
async function publish(more: Partial<Price> = {}): Promise<void> {
  const given: Price = {
    price: 14_012_345n,
    confidence: 10_000n,
    exponent: -5,
    publishedAt: seconds(START - 5000),
    level: 1,
    feed: FEED,
    owner: RECEIVER,
    ...more,
  }
  const data = Buffer.alloc(134)
  createHash('sha256').update('account:PriceUpdateV2').digest().copy(data, 0, 0, 8)
  data.writeUInt8(given.level, 40)
  Buffer.from(given.feed, 'hex').copy(data, 41)
  data.writeBigInt64LE(given.price, 73)
  data.writeBigUInt64LE(given.confidence, 81)
  data.writeInt32LE(given.exponent, 89)
  data.writeBigInt64LE(given.publishedAt, 93)
  data.writeBigUInt64LE(777n, 125)
  await solana.setAccount(account, {
    lamports: 1_000_000_000n,
    owner: given.owner,
    data: data.toString('hex'),
  })
}

test('what assets are worth is told in the currency of the first pair, without those that have no usable rate', async () => {
  const rates = ratesOf(
    { currency: 'EUR', sources: [fixed('2500')] },
    { asset: 'SOL', sources: [fixed('125')] },
    { asset: 'EUR', sources: [fixed('1.25')] },
    { asset: 'BTC', currency: 'EUR', sources: [fixed('90000')] },
  )
  expect(await rates.readAll()).toEqual({ currency: 'EUR', rates: { ETH: '2500', SOL: '100' } })
  const crossed = ratesOf(
    { sources: [fixed('2500')] },
    { asset: 'SOL', currency: 'EUR', sources: [fixed('100')] },
    { asset: 'EUR', sources: [fixed('1.25')] },
  )
  expect(await crossed.readAll()).toEqual({ currency: 'USD', rates: { ETH: '2500' } })
  expect(await ratesOf().readAll()).toEqual({ currency: null, rates: {} })
})

describe('an aggregator on a chain', () => {
  test('gives its rate with source, round and age', async () => {
    await aggregate()
    expect(await ratesOf({ sources: [chainlink()] }).read('ETH', 'USD')).toEqual({
      ok: true,
      rate: {
        rate: '2500.12345678',
        source: `chainlink eip155:31337 ${AGGREGATOR}`,
        round: '110680464442257320247',
        observedAt: START - 60_000,
      },
    })
  })

  test.each<[string, Partial<Aggregator>]>([
    ['is stale by a second', { updatedAt: seconds(START - 3_601_000) }],
    ['is of the future', { updatedAt: seconds(START + 120_000) }],
    ['has no complete round', { updatedAt: 0n }],
    ['has a negative answer', { answer: -1n }],
    ['has no answer', { answer: 0n }],
    ['has a time that no clock reaches', { updatedAt: 2n ** 255n }],
    ['has decimals that no rate has', { decimals: 200 }],
  ])('quotes nothing when it %s', async (_, more) => {
    await aggregate(more)
    expect(await ratesOf({ sources: [chainlink()] }).read('ETH', 'USD')).toEqual({
      ok: false,
      reason: 'rate_stale',
    })
  })

  test('that is not there quotes nothing', async () => {
    await evm.setCode(AGGREGATOR, '0x')
    expect(await ratesOf({ sources: [chainlink()] }).read('ETH', 'USD')).toMatchObject({
      ok: false,
    })
  })
})

describe('a price account of Pyth', () => {
  test('gives its rate with source, slot and age', async () => {
    await publish()
    expect(await ratesOf({ sources: [pyth()] }).read('ETH', 'USD')).toEqual({
      ok: true,
      rate: {
        rate: '140.12345',
        source: `pyth ${solana.network.network} ${account}`,
        round: '777',
        observedAt: START - 5000,
      },
    })
  })

  test.each<[string, Partial<Price>]>([
    ['is stale', { publishedAt: seconds(START - 61_000) }],
    ['is of another feed', { feed: '00'.repeat(32) }],
    ['is not fully verified', { level: 0 }],
    ['belongs to another program', { owner: '11111111111111111111111111111111' }],
    ['is not agreed on by its publishers', { confidence: 300_000n }],
    ['is negative', { price: -1n, confidence: 0n }],
  ])('quotes nothing when it %s', async (_, more) => {
    await publish(more)
    expect(await ratesOf({ sources: [pyth()] }).read('ETH', 'USD')).toMatchObject({ ok: false })
  })
})

describe('an HTTP provider', () => {
  test('gives its rate with all its digits', async () => {
    body = `{"data":[{"price":2500.123456789012345678}],"at":${START - 3000}}`
    expect(await ratesOf({ sources: [http({ timePath: ['at'] })] }).read('ETH', 'USD')).toEqual({
      ok: true,
      rate: {
        rate: '2500.123456789012345678',
        source: `http ${new URL(url).host}`,
        round: null,
        observedAt: START - 3000,
      },
    })
  })

  test.each([
    ['an error', '<html>'],
    ['another shape', '{"data":[]}'],
    ['a text', '{"data":[{"price":"many"}]}'],
    ['zero', '{"data":[{"price":0}]}'],
    ['too many digits', '{"data":[{"price":0.1234567890123456789}]}'],
  ])('quotes nothing when it answers with %s', async (_, answer) => {
    body = answer
    expect(await ratesOf({ sources: [http()] }).read('ETH', 'USD')).toMatchObject({ ok: false })
  })
})

describe('several sources', () => {
  test('the first that is not stale gives the rate, in the configured order', async () => {
    body = '{"data":[{"price":"2490"}]}'
    await aggregate()
    const sources = [chainlink(), http(), fixed('2495')]
    const read = async () => await ratesOf({ sources }).read('ETH', 'USD')
    expect(await read()).toMatchObject({ rate: { source: expect.stringMatching(/^chainlink/) } })
    await aggregate({ updatedAt: seconds(START - 7_200_000) })
    expect(await read()).toMatchObject({ rate: { source: expect.stringMatching(/^http/) } })
    body = ''
    expect(await read()).toMatchObject({ rate: { source: 'fixed' } })
  })

  test('that differ by more than the rule allows quote nothing', async () => {
    await aggregate({ answer: 2_552_000_000_00n })
    const sources = [chainlink(), fixed('2500')]
    expect(await ratesOf({ sources }).read('ETH', 'USD')).toEqual({
      ok: false,
      reason: 'rate_disputed',
    })
    const wide = ratesOf({ sources, maxDeviationPercent: '2.08' })
    expect(await wide.read('ETH', 'USD')).toMatchObject({ ok: true })
  })
})

test('sources that must not differ give a rate while they are equal', async () => {
  const rateOf = (second: string) =>
    ratesOf({ sources: [fixed('2500'), fixed(second)], maxDeviationPercent: '0' })
  expect(await rateOf('2500.0').read('ETH', 'USD')).toMatchObject({ ok: true })
  expect(await rateOf('2500.01').read('ETH', 'USD')).toEqual({ ok: false, reason: 'rate_disputed' })
})

test('a pair that cannot be computed takes no rate away from the other assets', async () => {
  const rates = ratesOf(
    { sources: [fixed('2500')] },
    { asset: 'SOL', currency: 'JPY', sources: [fixed('0.000000000000000001')] },
    { asset: 'USD', currency: 'JPY', sources: [fixed('150')] },
  )
  await expect(rates.read('SOL', 'USD')).rejects.toThrow(RangeError)
  expect(await rates.readAll()).toEqual({ currency: 'USD', rates: { ETH: '2500' } })
})

test('two pairs over one currency give the rate of an asset in another one', async () => {
  const rates = ratesOf({ sources: [fixed('2500')] }, { asset: 'EUR', sources: [fixed('1.25')] })
  expect(await rates.read('ETH', 'EUR')).toMatchObject({
    rate: { rate: '2000', source: 'fixed / fixed' },
  })
  expect(rates.currencies).toEqual(['EUR', 'USD'])
  expect(await rates.read('SOL', 'EUR')).toEqual({ ok: false, reason: 'rate_unknown' })
})

test('visitors who come together ask a source once, and again only after 15 seconds', async () => {
  body = '{"data":[{"price":"2500"}]}'
  const rates = ratesOf({ sources: [http()] })
  await Promise.all(Array.from({ length: 20 }, () => rates.read('ETH', 'USD')))
  expect(asked).toBe(1)
  now += 15_000
  await rates.read('ETH', 'USD')
  expect(asked).toBe(2)
})

test('sources that hang delay an answer by 3 seconds at most: several RPC endpoints, and two pairs', async () => {
  hangs = true
  const networks = [{ ...evm.network, rpcUrls: [url, url, url] }]
  const rules = [
    { asset: 'ETH', currency: 'EUR', sources: [chainlink()] },
    { asset: 'USD', currency: 'EUR', sources: [chainlink()] },
  ].map((rule) => ({ ...rule, maxDeviationPercent: '2' }))
  const log = pino({ level: 'silent' })
  const rates = new Rates(rules, { networks, exchanger, now: () => now, log })
  const begun = performance.now()
  expect(await rates.read('ETH', 'USD')).toEqual({ ok: false, reason: 'rate_stale' })
  // One after another they would take 18 seconds.
  expect(performance.now() - begun).toBeLessThan(5000)
})
