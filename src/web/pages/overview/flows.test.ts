import { expect, test } from 'vitest'
import type { AssetSummary } from '#contract/payment-endpoints.ts'
import { assetNameIn, byUse, changeOf, findChosen, netOf } from './flows.ts'

const flows = {
  receivedAtomic: '100',
  refundsReceivedAtomic: '5',
  sentAtomic: '30',
  refundedAtomic: '80',
  feesAtomic: '2',
}

const asset = (symbol: string, more: Partial<AssetSummary> = {}): AssetSummary => ({
  network: 'eip155:31337',
  asset: `0x${symbol}`,
  symbol,
  decimals: 18,
  ...flows,
  receivedCount: 0,
  refundsReceivedCount: 0,
  sentCount: 0,
  refundedCount: 0,
  endedCount: 0,
  paidCount: 0,
  medianConfirmMs: null,
  previous: flows,
  days: [],
  ...more,
})

test('net is what came less what went, fees and refunds included', () => {
  expect(netOf(flows)).toBe(-7n)
})

test('a change has a percentage only where there was something before', () => {
  expect(changeOf(150n, 100n)).toBe(0.5)
  expect(changeOf(0n, 100n)).toBe(-1)
  expect(changeOf(5n, 0n)).toBeUndefined()
  expect(changeOf(0n, 0n)).toBeUndefined()
  // From a loss to a gain is more, not less.
  expect(changeOf(50n, -100n)).toBe(1.5)
  const large = 10n ** 40n
  expect(changeOf(large + large / 4n, large)).toBe(0.25)
})

test('the address names an asset, and an unknown name shows the most used one', () => {
  const assets = byUse([
    asset('ETH', { receivedCount: 1 }),
    asset('USDC', { receivedCount: 4, sentCount: 2 }),
    asset('OLD', { asset: '0x1' }),
    asset('OLD', { asset: '0x2' }),
  ])
  expect(assets[0]?.symbol).toBe('USDC')
  for (const each of assets)
    expect(findChosen(assets, { network: each.network, asset: assetNameIn(assets, each) })).toBe(
      each,
    )
  expect(findChosen(assets, { network: 'eip155:1', asset: 'ETH' })?.symbol).toBe('USDC')
  expect(findChosen(assets, {})?.symbol).toBe('USDC')
  expect(findChosen([], {})).toBeUndefined()
})
