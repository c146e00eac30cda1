import { expect, onTestFinished, test, vi } from 'vitest'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { setPreferences } from '../../local-data/preferences.ts'
import { readExpected, startFields } from './expected.ts'
import type { ProofFacts } from './proof/facts.ts'

const USDC = {
  address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
} as const
const WETH = {
  address: '0x4200000000000000000000000000000000000006',
  symbol: 'WETH',
  name: 'Wrapped Ether',
  decimals: 18,
  native: false,
} as const
const network: Network = {
  network: 'eip155:31337',
  name: 'Local',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 2,
  assets: [NATIVE_ETH, USDC],
}
const said = { amountAtomic: 1_500_000n, resource: null, memo: null, body: { kind: 'permit' } }
const start = (facts: object, assets: Network['assets'] = network.assets) =>
  startFields({ ...said, ...facts } as ProofFacts, [{ ...network, assets }], [])

test('a proof in a configured currency starts with its own amount', () => {
  expect(start({ network: network.network, asset: USDC.address })).toMatchObject({
    asset: USDC.address,
    amount: '1.5',
  })
})

test('the amount of a proof is prefilled as the reader writes it, so that it can be read back', () => {
  // The theme is set on the document.
  vi.stubGlobal('document', { documentElement: { dataset: {} } })
  onTestFinished(() => {
    setPreferences({ numbers: 'auto' })
    vi.unstubAllGlobals()
  })
  setPreferences({ numbers: 'de-DE' })
  const fields = start({
    network: network.network,
    asset: USDC.address,
    amountAtomic: 1_234_000n,
  })
  expect(fields.amount).toBe('1,234')
  expect(
    readExpected({ ...fields, wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }, [network]),
  ).toMatchObject({ ok: true, expected: { amountAtomic: 1_234_000n } })
})

test.each([
  ['another network', { network: 'eip155:84532', asset: USDC.address }],
  ['an unknown token', { network: network.network, asset: `0x${'9'.repeat(40)}` }],
] as const)('a proof of %s proposes no amount: its units are of something else', (_, facts) => {
  expect(start(facts).amount).toBe('')
})

test('an authorization that names no token (version 1) is never read as native currency', () => {
  const unnamed = { network: network.network, asset: null, body: { kind: 'authorization' } }
  expect(start(unnamed)).toMatchObject({ asset: USDC.address, amount: '1.5' })
  expect(start(unnamed, [NATIVE_ETH, USDC, WETH]).amount).toBe('')
  expect(start(unnamed, [NATIVE_ETH]).amount).toBe('')
})

test('a signed transaction without a token is of native currency', () => {
  expect(
    start({
      network: network.network,
      asset: null,
      amountAtomic: 10n ** 18n,
      body: { kind: 'evm' },
    }),
  ).toMatchObject({
    asset: NATIVE_ETH.address,
    amount: '1',
  })
})
