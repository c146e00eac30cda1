import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { EVM_NATIVE, SOLANA_NATIVE } from './address.ts'
import {
  chainIdOf,
  defaultNetwork,
  explorerLink,
  familyOf,
  findAsset,
  nativeAsset,
  NATIVE_ETH,
  NATIVE_SOL,
  Network,
  SOLANA_DEVNET,
} from './network.ts'

const USDC = {
  address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const MINT = {
  address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const base = {
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  rpcUrls: ['http://127.0.0.1:8545'],
}
const evm: Network = {
  ...base,
  network: 'eip155:31337',
  name: 'Local',
  assets: [NATIVE_ETH, USDC],
  explorer: { tx: 'https://x.example/tx/{tx}', address: 'https://x.example/a/{address}' },
}
const solana: Network = {
  ...base,
  network: SOLANA_DEVNET,
  name: 'Local Solana',
  assets: [NATIVE_SOL, MINT],
}

test('a network names its family and chain id', () => {
  expect([familyOf(evm.network), familyOf(solana.network), chainIdOf(evm.network)]).toEqual([
    'evm',
    'solana',
    31337,
  ])
})

describe('findAsset', () => {
  test.each([
    undefined,
    'native',
    'NATIVE',
    'ETH',
    'eth',
    EVM_NATIVE,
    EVM_NATIVE.toLowerCase(),
    `0x${'0'.repeat(40)}`,
  ])('takes %s as the native currency', (name) => {
    expect(findAsset(evm, name)).toBe(NATIVE_ETH)
  })

  test.each(['USDC', 'usdc', USDC.address, USDC.address.toLowerCase()])(
    'finds a token of EVM as %s',
    (name) => {
      expect(findAsset(evm, name)).toBe(USDC)
    },
  )

  test('takes Solana addresses letter by letter: base58 is case-sensitive', () => {
    expect([
      findAsset(solana, MINT.address),
      findAsset(solana, SOLANA_NATIVE),
      findAsset(solana, 'sol'),
    ]).toEqual([MINT, NATIVE_SOL, NATIVE_SOL])
    expect(findAsset(solana, MINT.address.toLowerCase())).toBeUndefined()
  })

  test('finds nothing that is not configured', () => {
    for (const name of ['', 'DAI', 'SOL', MINT.address])
      expect(findAsset(evm, name)).toBeUndefined()
  })
})

test('the default network of a family is the first one', () => {
  expect(defaultNetwork([solana, evm], 'evm')).toBe(evm)
  expect(defaultNetwork([evm], 'solana')).toBeUndefined()
})

test('a network without its native currency is an error of the configuration', () => {
  expect(() => nativeAsset({ ...evm, assets: [USDC] })).toThrow(
    'configured without its native currency',
  )
})

test('explorer links encode what they carry', () => {
  expect(explorerLink(evm, 'tx', '0xab/?')).toBe('https://x.example/tx/0xab%2F%3F')
  expect(explorerLink(solana, 'tx', 'x')).toBeUndefined()
})

test.each(['eip155:0', 'eip155:01', 'eip155:1x', 'solana:mainnet', 'bitcoin:1', 'EIP155:1', ''])(
  '%j is no network',
  (network) => {
    expect(v.is(Network, evm)).toBe(true)
    expect(v.is(Network, { ...evm, network })).toBe(false)
  },
)
