import { expect, test } from 'vitest'
import { OFFLINE_NETWORKS } from '#testing/fixture.ts'
import { readRules, type HostedRuleText } from './hosted-rules.ts'

const good: HostedRuleText = {
  name: 'Till',
  wallet: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  network: 'eip155:31337',
  asset: 'ETH',
  maxPerPayment: '0.5',
  maxPerDay: '2',
}

test('a rule is read against the network it names, its caps to the last unit', () => {
  const { rules, problems } = readRules([good], OFFLINE_NETWORKS)
  expect(problems).toEqual([])
  expect(rules).toMatchObject([
    {
      wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      maxPerPayment: 5n * 10n ** 17n,
      maxPerDay: 2n * 10n ** 18n,
    },
  ])
})

test.each([
  [{ network: 'eip155:1' }, 'eip155:1 is not a configured network'],
  [{ asset: 'DOGE' }, 'DOGE is not an asset'],
  [{ wallet: '11111111111111111111111111111111' }, 'is not a wallet on'],
  [{ maxPerPayment: '0' }, 'decimals above 0'],
  [{ maxPerDay: '1e99999' }, 'decimals above 0'],
])('%j is told by its place', (change, words) => {
  const { rules, problems } = readRules(
    [good, { ...good, name: 'Other', ...change }],
    OFFLINE_NETWORKS,
  )
  expect(rules).toHaveLength(1)
  expect(problems).toEqual([expect.stringContaining('at 1: ')])
  expect(problems[0]).toContain(words)
})

test('two caps for the same wallet and asset are a mistake', () => {
  expect(readRules([good, { ...good, asset: 'native' }], OFFLINE_NETWORKS).problems).toEqual([
    expect.stringContaining('twice'),
  ])
})
