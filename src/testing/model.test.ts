import { expect, test } from 'vitest'
import type { Chain } from '#service/chains/chain.ts'
import { search, type Plant, type ModelSearchOptions } from './model/search.ts'

/** The short form of `npm run model`: every order of events up to a small depth, from three starts; and planted defects, each of which is found. */

const STARTS = [
  { name: 'nothing', prefix: [], depth: 1 },
  { name: 'a payment', prefix: ['send a'], depth: 2 },
  { name: 'a confirmed payment', prefix: ['send a', 'mine', 'poll'], depth: 1 },
]

for (const family of ['evm', 'solana'] as const) {
  test.each(STARTS)(
    `hosted ${family} payments keep their promises in every state after $name`,
    { timeout: 300_000 },
    async ({ prefix, depth }) => {
      const { violations, complete, states, settled } = await search({
        family,
        depth,
        faults: 1,
        prefix,
      })
      expect(violations.slice(0, 3)).toEqual([])
      expect(complete).toBe(true)
      // A search that reaches nothing finds nothing.
      expect(states).toBeGreaterThan(8)
      expect(settled).toBeGreaterThan(5)
    },
  )
}

const believesAll: Plant = {
  chain: (chain) => replaced(chain, { canNeverLand: () => Promise.resolve(true) }),
}
const seesNothing: Plant = {
  chain: (chain) =>
    replaced(chain, { observe: async (_, as = (seen) => seen) => as({ state: 'not_found' }) }),
}
const readsNoQueue: Plant = {
  statement: 'drop index service.payment_nonce',
  rewrite: (text, rows) => (/"nonce" >= /.test(text) ? [] : rows),
}

function replaced(chain: Chain, changes: Partial<Chain>): Chain {
  return { ...chain, ...changes }
}

type Planted = Pick<ModelSearchOptions, 'family' | 'depth' | 'faults' | 'prefix' | 'plant'>

test.each<[string, string, Planted]>([
  [
    'a new signature without proof that the first cannot land',
    'two signed transactions of one intent can both land',
    { family: 'evm', depth: 2, faults: 0, prefix: ['send a'], plant: believesAll },
  ],
  [
    'a nonce that is taken from the chain alone, with no unique index',
    'the nonce 0 was used for two intents',
    { family: 'evm', depth: 2, faults: 0, plant: readsNoQueue },
  ],
  [
    'a broadcast before the bytes are durable',
    'signed bytes left that no row knows',
    { family: 'evm', depth: 1, faults: 1, plant: { losesCommits: true } },
  ],
  [
    'one lying endpoint as proof that nothing landed',
    'two signed transactions of one intent can both land',
    {
      family: 'solana',
      depth: 1,
      faults: 1,
      prefix: ['send a', 'finalize', 'expire'],
      plant: { oneEndpoint: true },
    },
  ],
  [
    'a monitor that never sees a landing',
    'a payment is never decided though the chain is settled',
    { family: 'evm', depth: 1, faults: 0, prefix: ['send a'], plant: seesNothing },
  ],
])('the search finds %s', async (_, rule, planted) => {
  const { violations } = await search({ ...planted, first: true })
  expect(violations.map((violation) => violation.rule)).toContain(rule)
})
