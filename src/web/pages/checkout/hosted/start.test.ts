import { expect, test } from 'vitest'
import type { HostedWallet } from '#contract/hosted-endpoints.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { startFields } from './start.ts'

const USDC = {
  address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
} as const
const network = 'eip155:31337'
const networks = [{ network, assets: [NATIVE_ETH, USDC] }] as unknown as Network[]
const wallets = [
  { wallet: '0xA', network, asset: NATIVE_ETH.address },
  { wallet: '0xB', network, asset: USDC.address },
] as HostedWallet[]
const refundOfUnmatched = {
  to: '0xPayer',
  amount: '2.5',
  network,
  asset: USDC.address,
  description: 'Refund',
  reference: '0xTransaction',
}
const start = (prefill: object, of = wallets) =>
  startFields(of, networks, { prefill, refund: undefined })

test('a refund of an unmatched transfer keeps its recipient, amount and reference from a managed wallet of its currency', () => {
  expect(start(refundOfUnmatched)).toEqual({
    source: '1',
    recipient: '0xPayer',
    amount: '2.5',
    priorityFee: '',
    resource: '',
    description: 'Refund',
    reference: '0xTransaction',
  })
})

test('an amount in one currency is not prefilled for a wallet of another', () => {
  expect(start(refundOfUnmatched, wallets.slice(0, 1))).toMatchObject({
    source: '0',
    recipient: '0xPayer',
    amount: '',
    reference: '0xTransaction',
  })
})

test('the managed wallet that the address names is chosen', () => {
  expect(start({ from: '0xB', network })).toMatchObject({ source: '1', recipient: '', amount: '' })
  expect(start({ from: '0xNobody', network })).toMatchObject({ source: '0' })
})
