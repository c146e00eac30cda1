import { QueryClient } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import { NATIVE_ETH, type Asset, type Network } from '#contract/network.ts'
import type { LandedPayment } from '../../payment-intent/intent.ts'
import { configureClient } from '../../api/client.ts'
import { checkoutIntentOf } from './fields.ts'
import { requestEarly, linkOfOption, linkQuery, type ShortLink } from './open-link.ts'
import { receiptOf } from './receipt.ts'
import { formValues, prefillFromLink } from './start-values.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const usdc: Asset = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const network: Network = {
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 400,
  confirmations: 1,
  network: 'eip155:31337',
  name: 'Ethereum',
  assets: [NATIVE_ETH, usdc],
}
const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const option = {
  network: network.network,
  recipient,
  asset: usdc.address,
  amountAtomic: '10000000',
  quote: null,
}
const terms = {
  id: 'lnk_1',
  price: { kind: 'asset' as const, currency: 'USDC', amount: '10' },
  item: null,
  invoice: null,
  only: null,
  maxPieces: 10,
  askEmail: false,
  resource: null,
  description: 'Print',
  reference: null,
  expiresAt: null,
  maxPayments: null,
  returnUrl: null,
}
const short = (changes: Partial<typeof terms> = {}): ShortLink => ({
  text: '2NEpo7TZRhna',
  setBy: 'Shop',
  opened: {
    terms: { ...terms, ...changes },
    state: 'open',
    options: [option],
    quotedAt: null,
    expiresAt: null,
  },
})
const linkOf = (link: ShortLink, pieces: number) => {
  const opened = linkOfOption(link, option, { pieces, networks: [network] })
  if (!opened) throw new Error('The option is not known.')
  return opened
}

test('a link without a product keeps how many pieces its payer chose and the price of one, up to the receipt', () => {
  const link = linkOf(short(), 3)
  const prefill = prefillFromLink(link)
  const config = { networks: [network], sellerWallets: [recipient] }
  const fields = formValues({ previous: undefined, typed: undefined, link, prefill }, config)
  const account = { family: 'evm' as const, address: '0x1', walletId: 'w', walletName: 'Wallet' }
  const order = checkoutIntentOf(fields, {
    network,
    asset: usdc,
    account,
    link,
    priorityFeeAtomic: undefined,
    refundOf: undefined,
  })
  expect(order.amountAtomic).toBe(30_000_000n)
  expect(order.quantity).toEqual({ pieces: 3, price: terms.price })

  const landed: LandedPayment = {
    signature: '0xabc',
    height: 7,
    blockHash: null,
    confirmations: 1,
    requiredConfirmations: 1,
    feeAtomic: 1n,
  }
  const built = {
    paymentId: 'pay_1',
    bytes: new Uint8Array(),
    lastValidBlockHeight: 10,
    deadlineAt: 1,
    builtHeight: 1,
    nonce: 0,
    maxFeeAtomic: 1n,
    digest: '',
  }
  const state = {
    step: 'confirmed' as const,
    attempt: 1,
    order,
    built,
    sent: { bytes: null, signature: '0xabc' },
    landed,
  }
  expect(receiptOf(state)).toMatchObject({
    amount: '30',
    quantity: { pieces: 3, price: terms.price },
  })
  // A payment that was begun before quantities were kept has none.
  const { quantity: _, ...earlier } = order
  expect(receiptOf({ ...state, order: earlier })).not.toHaveProperty('quantity')
  // A single piece is not counted.
  const single = { ...order, quantity: { pieces: 1, price: terms.price } }
  expect(receiptOf({ ...state, order: single })).not.toHaveProperty('quantity')
})

test('a link that sells one piece at a time has no quantity', () => {
  expect(linkOf(short({ maxPieces: 1 }), 1)).not.toHaveProperty('quantity')
})

test('the answer about a link that was asked for early is taken once, and each later reading asks again', async () => {
  const answers = [1, 2, 3].map((maxPayments) => ({
    terms: { ...terms, maxPayments },
    state: 'open',
    options: [option],
    quotedAt: null,
    expiresAt: null,
  }))
  const asked = vi.fn<typeof fetch>(async () => Response.json(answers.shift()))
  vi.stubGlobal('fetch', asked)
  configureClient('https://pay-api.example.org')
  const code = short().text
  const config = { networks: [network], title: 'Shop' } as unknown as PublicConfig
  const client = new QueryClient()
  const read = async () => {
    const view = await client.fetchQuery(linkQuery(code, config))
    return view.kind === 'short' && view.short.opened.terms.maxPayments
  }
  requestEarly(code)
  expect(await read()).toBe(1)
  expect(asked).toHaveBeenCalledTimes(1)
  expect(await read()).toBe(2)
  // Too late: the page would take an answer of before.
  requestEarly(code)
  await vi.dynamicImportSettled()
  expect(asked).toHaveBeenCalledTimes(2)
  expect(await read()).toBe(3)
})

/** As in a page that was just opened, whose proxy gives these answers in turn. */
async function openPage(...answers: (() => Response)[]) {
  vi.resetModules()
  const [page, client] = await Promise.all([
    import('./open-link.ts'),
    import('../../api/client.ts'),
  ])
  client.configureClient('https://pay-api.example.org')
  const asked = vi.fn<typeof fetch>(async () => answers.shift()?.() ?? Response.error())
  vi.stubGlobal('fetch', asked)
  const config = { networks: [network], title: 'Shop' } as unknown as PublicConfig
  const read = async () => {
    const query = page.linkQuery(short().text, config)
    const view = await new QueryClient().fetchQuery({ ...query, retry: false })
    return view.kind === 'short' && view.problem?.reason
  }
  return { ...page, asked, read }
}

const answerOf = (state: 'open' | 'used') => () =>
  Response.json({ terms, state, options: [option], quotedAt: null, expiresAt: null })

test('an answer about a link that waited for its page longer than 20 s is asked for again', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { requestEarly: request, asked, read } = await openPage(answerOf('open'), answerOf('used'))
  request(short().text)
  await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(1))
  vi.setSystemTime(Date.now() + 20_000)
  expect(await read()).toBe('link_used')
})

test('a link whose early request failed before its page was there is asked for as if it had not been made', async () => {
  const failed = () => {
    throw new TypeError('Failed to fetch')
  }
  const { requestEarly: request, asked, read } = await openPage(failed, answerOf('open'))
  request(short().text)
  await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(1))
  await vi.dynamicImportSettled()
  expect(await read()).toBeUndefined()
  expect(asked).toHaveBeenCalledTimes(2)
})
