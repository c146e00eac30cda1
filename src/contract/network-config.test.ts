import * as v from 'valibot'
import { expect, test } from 'vitest'
import { NetworkConfig } from './network-config.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET, type Asset } from './network.ts'

const USDC = {
  address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const base = {
  network: 'eip155:31337',
  name: 'Local',
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  rpcUrls: ['http://127.0.0.1:8545'],
}
const problem = (assets: Asset[], network = base.network) =>
  v.safeParse(NetworkConfig, { ...base, network, assets }).issues?.[0].message

test('addresses are read into their normal form', () => {
  expect(
    v.parse(NetworkConfig, {
      ...base,
      assets: [NATIVE_ETH, { ...USDC, address: USDC.address.toLowerCase() }],
    }).assets,
  ).toEqual([NATIVE_ETH, USDC])
})

test.each<[string, Asset[], string | undefined, RegExp]>([
  ['no native currency', [USDC], undefined, /one native currency in eip155:31337, first/],
  ['a token before it', [USDC, NATIVE_ETH], undefined, /one native currency/],
  ['two of them', [NATIVE_ETH, { ...USDC, native: true }], undefined, /one native currency/],
  ['one at another address', [{ ...NATIVE_ETH, address: USDC.address }], undefined, /at 0xEeee/],
  ['the one of another family', [NATIVE_ETH], SOLANA_DEVNET, /at 1111/],
  ['a token of another family', [NATIVE_SOL, USDC], SOLANA_DEVNET, /received 0x8335.* for USDC/],
  [
    'an address with a typing error',
    [NATIVE_ETH, { ...USDC, address: USDC.address.replace('f', 'F') }],
    undefined,
    /token of eip155:31337, received/,
  ],
  [
    'a token twice',
    [NATIVE_ETH, USDC, { ...USDC, symbol: 'OTHER', address: USDC.address.toLowerCase() }],
    undefined,
    /each asset of eip155:31337 once/,
  ],
  [
    'a symbol twice',
    [
      NATIVE_ETH,
      USDC,
      { ...USDC, symbol: 'usdc', address: '0x4200000000000000000000000000000000000006' },
    ],
    undefined,
    /once/,
  ],
])('a network with %s is refused', (_, assets, network, message) => {
  expect(problem(assets, network)).toMatch(message)
})
