import * as v from 'valibot'
import { expect, test } from 'vitest'
import { NetworkConfig, publishedNetwork } from './network-config.ts'
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

const KEY = 'abcdEFGH1234567890abcdEFGH123456'

test.each<[string, object, RegExp]>([
  [
    'a user name',
    { publicRpcUrls: [`https://${KEY}@rpc.example`] },
    /rpc\.example has a user name/,
  ],
  ['a query', { publicRpcUrls: [`https://rpc.example/?k=${KEY}`] }, /rpc\.example has a query/],
  ['a path like a key', { publicRpcUrls: [`https://rpc.example/v2/${KEY}`] }, /looks like a key/],
  [
    'a key as the second',
    { publicRpcUrls: ['https://a.example', `https://b.example/${KEY}`] },
    /b\.ex/,
  ],
  ['a WebSocket with a key', { wsUrl: `wss://rpc.example/${KEY}` }, /path of rpc\.example/],
])(
  'an address for browsers with %s is refused, and the key is not repeated',
  (_, urls, expected) => {
    const network = { ...base, assets: [NATIVE_ETH], ...urls }
    const [issue] = v.safeParse(NetworkConfig, network).issues ?? []
    expect(issue?.message).toMatch(expected)
    expect(issue?.message).not.toContain(KEY)
    expect(v.safeParse(NetworkConfig, { ...network, publicRpcKeys: true }).success).toBe(true)
  },
)

test('an address for browsers without a key is taken, and one of the servers may hold a key', () => {
  const publicRpcUrls = [
    'https://mainnet.base.org',
    'https://eth.example/v1/mainnet',
    'http://127.0.0.1:9/',
  ]
  const rpcUrls = [`https://rpc.example/v2/${KEY}`]
  const network = v.parse(NetworkConfig, { ...base, assets: [NATIVE_ETH], rpcUrls, publicRpcUrls })
  expect(publishedNetwork(network)).toEqual({
    ...base,
    assets: [NATIVE_ETH],
    rpcUrls: publicRpcUrls,
  })
  expect(JSON.stringify(publishedNetwork(network))).not.toContain(KEY)
})
