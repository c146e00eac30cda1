import { expect, onTestFinished, test, vi } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL, type Asset, type Network } from '#contract/network.ts'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import { bestOption, isShort, rankOptions } from './payable-options.ts'

const usdc: Asset = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const base = { rpcUrls: ['http://127.0.0.1:1'], testnet: true, blockTimeMs: 400, confirmations: 1 }
const ethereum: Network = {
  ...base,
  network: 'eip155:31337',
  name: 'Ethereum',
  assets: [NATIVE_ETH, usdc],
}
const solana: Network = {
  ...base,
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  name: 'Solana',
  assets: [NATIVE_SOL],
}
const optionOf = (network: Network, asset: Asset, amountAtomic: string): OpenLink => ({
  text: '2NEpo7TZRhna',
  setBy: 'Shop',
  network,
  asset,
  terms: {
    id: 'lnk_1',
    network: network.network,
    recipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    asset: asset.address,
    amountAtomic,
    resource: null,
    description: null,
    reference: null,
    expiresAt: null,
    maxPayments: 1,
    returnUrl: null,
  },
})
const options = [
  optionOf(ethereum, NATIVE_ETH, '100'),
  optionOf(ethereum, usdc, '100'),
  optionOf(solana, NATIVE_SOL, '100'),
]

/** The symbols in the order in which they are offered to a wallet with these balances. */
function offered(ether: bigint | undefined, dollars: bigint): string[] {
  const held = [
    { asset: NATIVE_ETH, atomic: ether ?? 0n },
    { asset: usdc, atomic: dollars },
  ]
  const balances = ether === undefined ? undefined : new Map([[ethereum.network, held]])
  return rankOptions(options, balances).map(({ link }) => link.asset.symbol)
}

test('what the wallet can pay with its fee comes first, and what it cannot pay last', () => {
  expect(offered(undefined, 0n)).toEqual(['ETH', 'USDC', 'SOL'])
  expect(offered(50n, 100n)).toEqual(['USDC', 'SOL', 'ETH'])
  expect(offered(101n, 99n)).toEqual(['ETH', 'SOL', 'USDC'])
})

test('a currency is not payable where nothing is left for the network fee', () => {
  expect(offered(0n, 100n)).toEqual(['SOL', 'USDC', 'ETH'])
  expect(offered(100n, 0n)).toEqual(['SOL', 'ETH', 'USDC'])
})

test('what is too little, or leaves nothing for the fee, is known to be impossible; an unread balance is not', () => {
  const short = (ether: bigint, dollars: bigint) => {
    const held = [
      { asset: NATIVE_ETH, atomic: ether },
      { asset: usdc, atomic: dollars },
    ]
    const ranked = rankOptions(options, new Map([[ethereum.network, held]]))
    return ranked.filter(isShort).map(({ link }) => link.asset.symbol)
  }
  expect(short(101n, 100n)).toEqual([])
  expect(short(100n, 99n)).toEqual(['ETH', 'USDC'])
  expect(short(0n, 100n)).toEqual(['USDC', 'ETH'])
})

test('a wallet pays on its own networks, also where its balances cannot be read in time', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const account = {
    family: 'solana' as const,
    address: 'AqynRZwvVqUPRwRJXvm6odUb3t93fDjnWe3p6BeuUFxD',
    walletId: 'Solflare',
    walletName: 'Solflare',
  }
  const picked = [bestOption(options, [account]), bestOption(options, [])]
  await vi.advanceTimersByTimeAsync(4_000)
  const [own, none] = await Promise.all(picked)
  expect([own?.link.asset.symbol, none]).toEqual(['SOL', undefined])
  expect(own && isShort(own)).toBe(false)
})
