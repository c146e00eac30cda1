import { expect, test } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_MAINNET, type Network } from '#contract/network.ts'
import { describeSlowness, settleWithinMs } from './facilitator.ts'

const evm = (blockTimeMs: number, confirmations: number): Network => ({
  network: 'eip155:1',
  name: 'Ethereum',
  rpcUrls: ['https://rpc.example'],
  testnet: false,
  blockTimeMs,
  confirmations,
  assets: [NATIVE_ETH],
})

test('a settlement is waited for as long as its confirmations need, from one to ten minutes', () => {
  expect(settleWithinMs(evm(2_000, 10))).toBe(60_000)
  expect(settleWithinMs(evm(12_000, 6))).toBe(101_000)
  expect(settleWithinMs(evm(1_000, 70))).toBe(77_000)
  expect(settleWithinMs(evm(12_000, 1_000))).toBe(600_000)
  expect(
    settleWithinMs({ ...evm(400, 1_000), network: SOLANA_MAINNET, assets: [NATIVE_SOL] }),
  ).toBe(60_000)
})

test('a network that no official client waits for is told of at the start', () => {
  expect(describeSlowness(evm(2_000, 10))).toBeUndefined()
  expect(describeSlowness(evm(12_000, 6))).toMatch(
    /^A payment on Ethereum needs 6 confirmations, about 101 s\. Official x402 clients give up after 90 s/,
  )
})
