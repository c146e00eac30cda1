import { expect, test } from 'vitest'
import {
  NATIVE_ETH,
  NATIVE_SOL,
  SOLANA_DEVNET,
  type Asset,
  type Network,
} from '#contract/network.ts'
import { ExactServer } from './exact-server.ts'

const USDC: Asset = {
  address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const common = {
  name: 'Test',
  rpcUrls: ['https://rpc.example'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
}
const evm: Network = { ...common, network: 'eip155:31337', assets: [NATIVE_ETH, USDC] }
const solana: Network = { ...common, network: SOLANA_DEVNET, assets: [NATIVE_SOL] }

const requirements = (network: Network, asset: string) => ({
  scheme: 'exact',
  network: network.network as `${string}:${string}`,
  amount: '1',
  asset,
  payTo: 'x',
  maxTimeoutSeconds: 60,
  extra: {},
})

test('native methods settle before the resource is served and know no other flow', () => {
  const { paymentFlows } = new ExactServer(evm)
  for (const method of ['txid', 'signed-transaction', 'native-transfer'])
    expect(paymentFlows[method]).toEqual({ supported: ['upfront'], default: 'upfront' })
  expect(paymentFlows.eip3009).toEqual({
    supported: ['authorization', 'upfront'],
    default: 'upfront',
  })
})

test('prices are amounts of a configured asset, or numbers of the native currency', async () => {
  const server = new ExactServer(evm)
  expect(await server.parsePrice('0.01')).toEqual({
    amount: '10000000000000000',
    asset: NATIVE_ETH.address,
    extra: {},
  })
  expect(await server.parsePrice({ asset: 'USDC', amount: '5' })).toEqual({
    amount: '5',
    asset: USDC.address,
    extra: {},
  })
  await expect(server.parsePrice('$1')).rejects.toThrow(/no amount of ETH/)
  await expect(
    server.parsePrice({ asset: '0x0000000000000000000000000000000000000001', amount: '5' }),
  ).rejects.toThrow(/no asset/)
})

test('the method and the confirmations are named for native currency, and the fee payer for tokens of Solana', async () => {
  const native = await new ExactServer(evm).enhancePaymentRequirements(
    requirements(evm, NATIVE_ETH.address),
    { network: 'eip155:31337' },
  )
  expect(native.extra).toEqual({ assetTransferMethod: 'txid', decimals: 18, symbol: 'ETH' })
  const told = await new ExactServer(evm).enhancePaymentRequirements(
    requirements(evm, NATIVE_ETH.address),
    { network: 'eip155:31337', extra: { confirmations: 10 } },
  )
  expect(told.extra).toMatchObject({ confirmations: 10 })
  const mint: Asset = {
    address: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
    symbol: 'USDT',
    name: 'Tether',
    decimals: 6,
    native: false,
  }
  const server = new ExactServer({ ...solana, assets: [NATIVE_SOL, mint] })
  const kind = { network: SOLANA_DEVNET as `${string}:${string}`, extra: { feePayer: 'sponsor' } }
  expect(
    (await server.enhancePaymentRequirements(requirements(solana, mint.address), kind)).extra,
  ).toEqual({ feePayer: 'sponsor' })
  expect(
    (await server.enhancePaymentRequirements(requirements(solana, NATIVE_SOL.address), kind)).extra,
  ).not.toHaveProperty('feePayer')
})

test('a payment is for what the route announced to this request, and not for the requested URL', async () => {
  const server = new ExactServer(evm)
  const asked = { request: { adapter: { getUrl: () => 'http://10.0.0.7/a' } } }
  const announced = 'https://shop.example/a'
  await server.enrichPaymentRequiredResponse({
    resourceInfo: { url: announced },
    transportContext: asked,
  } as Parameters<typeof server.enrichPaymentRequiredResponse>[0])
  const { onBeforeVerify } = server.schemeHooks
  const verify = (url: string, transportContext: unknown) =>
    onBeforeVerify?.({
      paymentPayload: { resource: { url } },
      transportContext,
    } as Parameters<NonNullable<typeof onBeforeVerify>>[0])
  expect(await verify(announced, asked)).toBeUndefined()
  const mismatch = { abort: true, reason: 'resource_mismatch' }
  expect(await verify('http://10.0.0.7/a', asked)).toEqual(mismatch)
  const other = { request: { adapter: { getUrl: () => 'http://10.0.0.7/b' } } }
  expect(await verify(announced, other)).toEqual(mismatch)
})

test('a payment for another resource, or for none that is named, is aborted', async () => {
  const { onBeforeSettle } = new ExactServer(evm).schemeHooks
  const settle = (paid: string | undefined, asked: unknown) =>
    onBeforeSettle?.({
      paymentPayload: {
        x402Version: 2,
        accepted: requirements(evm, NATIVE_ETH.address),
        payload: {},
        ...(paid !== undefined && { resource: { url: paid } }),
      },
      requirements: requirements(evm, NATIVE_ETH.address),
      declaredExtensions: {},
      phase: 'before-handler',
      transportContext: asked,
    } as unknown as Parameters<NonNullable<typeof onBeforeSettle>>[0])
  const at = (url: string) => ({ request: { adapter: { getUrl: () => url } } })
  expect(await settle('https://shop.example/a', at('https://shop.example/a'))).toBeUndefined()
  for (const [paid, asked] of [
    ['https://shop.example/b', at('https://shop.example/a')],
    [undefined, at('https://shop.example/a')],
    ['https://shop.example/a', undefined],
    ['https://shop.example/a', { request: {} }],
  ] as const) {
    expect(await settle(paid, asked)).toEqual({ abort: true, reason: 'resource_mismatch' })
  }
})
