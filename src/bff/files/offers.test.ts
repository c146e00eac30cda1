import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { evmWallet } from '#testing/test-browser.ts'
import { EIP3009_METHOD } from '#x402/methods.ts'
import type { ProxyContext } from '../context/context.ts'
import { offersOf } from './offers.ts'

/** What anybody may ask for a price costs the service little, also where the chain is down. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const NETWORK = 'eip155:31337'
const DOMAIN = { name: 'USD Coin', version: '2' }
const token = {
  address: `0x${'11'.repeat(20)}`,
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const network = {
  network: NETWORK,
  name: 'Local',
  rpcUrls: [],
  testnet: true,
  blockTimeMs: 1_000,
  confirmations: 1,
  assets: [NATIVE_ETH, token],
}
const file = { prices: [{ currency: 'USDC', amount: '1', linkId: 'lnk', link: '' }] }

function proxy() {
  const asked: string[] = []
  const chain = { down: false }
  const context = {
    config: { networks: [network], sellerWallets: [evmWallet().address] },
    upstream: {
      async requestOwn({ path }: { path: string }) {
        asked.push(path)
        const kind = {
          x402Version: 2,
          network: NETWORK,
          extra: { assetTransferMethods: [EIP3009_METHOD] },
        }
        if (path.includes('supported')) return { kinds: [kind] }
        if (chain.down) throw new ProblemError('CHAIN_UNAVAILABLE')
        return { signingDomain: DOMAIN }
      },
    },
  } as unknown as ProxyContext
  const tokensAsked = () => asked.filter((path) => path.includes('token')).length
  return { chain, tokensAsked, offers: () => offersOf(context, file, 'req') }
}

test('a token that cannot be read now is asked about once in five seconds, however many ask for the price', async () => {
  const { chain, offers, tokensAsked } = proxy()
  chain.down = true
  for (let time = 0; time < 20; time++)
    await expect(offers()).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  expect(tokensAsked()).toBe(1)
  chain.down = false
  vi.advanceTimersByTime(5_000)
  expect(await offers()).toMatchObject([{ method: EIP3009_METHOD, extra: DOMAIN }])
  expect(tokensAsked()).toBe(2)
})

test('a token that was read once can be paid while the chain cannot be asked again', async () => {
  const { chain, offers, tokensAsked } = proxy()
  await offers()
  chain.down = true
  vi.advanceTimersByTime(30_000)
  for (let time = 0; time < 20; time++)
    expect(await offers()).toMatchObject([{ method: EIP3009_METHOD, extra: DOMAIN }])
  expect(tokensAsked()).toBe(2)
})
