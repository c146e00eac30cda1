import type { EndpointName } from '#contract/endpoints.ts'
import { succeed, textAt, type ApiReply } from '#testing/api-client.ts'
import { buildOrder, signRefundRequest } from '#testing/tenant-orders.ts'
import { facilitatorBody, makeProof, receiveBody, type Presented } from '#testing/tenant-proofs.ts'
import {
  copyId,
  customerAt,
  orderOfTransfer,
  paidAt,
  undeliveredAt,
  type GrowthShop,
} from './growth-shop.ts'

/** What `bench:growth` asks the service. */

/** A request that is timed. */
export type Request = () => Promise<ApiReply>

export type GrowthCase = {
  /** Which of several. */
  name?: string | undefined
  /** A bar beside the ratio, for the large one. */
  mostMs?: number | undefined
  /** What comes before the request, not timed. `turn` counts rounds: what one uses up, no other asks for. */
  prepare: (shop: GrowthShop, turn: number) => Promise<Request>
}

/** Cases, or why there is none. */
export type GrowthCases = readonly GrowthCase[] | string

/** The design's, for the overview. */
const OVERVIEW_MS = 50
const WALLETS = 'Rows of wallets, of which an account has few.'
const KEYS = 'Rows of keys, of which an account has few.'
const WEBHOOKS = 'Rows of webhooks, of which an account has few.'
const CHAIN = 'Reads no rows of payments.'

type Path = string | ((shop: GrowthShop, turn: number) => string)
type More = Pick<GrowthCase, 'name' | 'mostMs'>

const pathOf = (path: Path, shop: GrowthShop, turn: number) =>
  typeof path === 'string' ? path : path(shop, turn)

function read(path: Path, more: More = {}): GrowthCase {
  return {
    ...more,
    prepare: async (shop, turn) => {
      const asked = pathOf(path, shop, turn)
      return () => shop.t.a.api.get(asked)
    },
  }
}

type Write = { path: string; body: object; headers?: Record<string, string> }

/** What a write asks is made before it, by requests that are not timed. */
function write(
  make: (shop: GrowthShop, turn: number) => Write | Promise<Write>,
): readonly [GrowthCase] {
  return [
    {
      prepare: async (shop, turn) => {
        const { path, body, headers } = await make(shop, turn)
        return () => shop.t.a.api.post(path, body, headers)
      },
    },
  ]
}

const payout = ({ t }: GrowthShop) => t.a.payout.evm.address
const cursors = new Map<GrowthShop, string>()

const made = async (asked: Promise<ApiReply>, field: string) =>
  textAt(succeed(await asked).body, field)

/** Behind a cursor in the middle of the history. */
function behindCursor(path: (shop: GrowthShop) => string): GrowthCase {
  return {
    name: 'behind a cursor in the middle',
    prepare: async (shop) => {
      const { api } = shop.t.a
      const half = `/payments?limit=50&offset=${Math.floor(shop.rows / 2)}`
      const cursor = cursors.get(shop) ?? (await made(api.get(half), 'nextCursor'))
      cursors.set(shop, cursor)
      return () => api.get(`${path(shop)}?cursor=${cursor}`)
    },
  }
}

const draftRefund = ({ t }: GrowthShop, paymentId: string) =>
  made(t.a.api.post('/transaction/refund', { paymentId, amount: 0.001 }), 'paymentId')

async function requestRefund({ t, payer }: GrowthShop, paymentId: string): Promise<object> {
  const { body } = succeed(await t.a.api.get(`/refund-requests/${paymentId}`))
  return signRefundRequest(t, payer, body)
}

/** A request for a refund that is open; it is the copy with this number. */
const requestAt = async ({ t }: GrowthShop, turn: number) =>
  made(t.a.api.get(`/refund-requests/${paidAt(turn, 0)}`), 'requests.0.requestId')

const prove = async ({ t }: GrowthShop, method: 'evm txid' | 'evm eip3009'): Promise<Presented> => {
  const proof = await makeProof(t, { method, payTo: t.a.payout.evm.address })
  await t.evm.mine(3)
  return proof
}

const ASYNC = { Prefer: 'respond-async' }

export const SERVICE_CASES: Record<EndpointName, GrowthCases> = {
  transactionSend: write((shop) => ({
    path: '/transaction/send',
    body: { walletAddress: shop.payer.address, recipientAddress: payout(shop), amount: 0.001 },
  })),
  transactionReceive: write(async (shop) => ({
    path: '/transaction/receive',
    body: receiveBody(await prove(shop, 'evm eip3009')),
  })),
  transactionSubmitted: write(async (shop, turn) => {
    const order = { from: shop.payer.address, to: payout(shop), amount: 0.001 }
    const { paymentId } = await buildOrder(shop.t.a, order)
    const signature = `0x${String(turn).padStart(64, 'b')}`
    return { path: '/transaction/submitted', body: { paymentId, signature } }
  }),
  transactionRelease: write(async (shop, turn) => ({
    path: '/transaction/release',
    body: { paymentId: await draftRefund(shop, paidAt(turn, 2)) },
  })),
  paymentReceive: write(async (shop) => ({
    path: '/payment/receive',
    body: receiveBody(await prove(shop, 'evm txid')),
  })),
  facilitatorSupported: CHAIN,
  facilitatorVerify: write(async (shop) => ({
    path: '/facilitator/verify',
    body: facilitatorBody(await prove(shop, 'evm eip3009')),
  })),
  facilitatorSettle:
    'It takes until a block. Its rows are those of paymentReceive and paymentSend.',
  paymentSend: write(async ({ t, payer }) => {
    await t.evm.mine()
    const { evm: walletAddress } = t.a.managed
    const body = { walletAddress, recipientAddress: payer.address, amount: 0.001 }
    return { path: '/payment/send', body, headers: ASYNC }
  }),
  paymentStatus: [read((_shop, turn) => `/payment/status/${paidAt(turn, 3)}`)],
  paymentStatuses: [
    read(
      () =>
        `/payments/statuses?paymentIds=${Array.from({ length: 100 }, (_, n) => copyId('pay', 5 * n + 1)).join(',')}`,
    ),
  ],
  paymentHistory: [
    read((shop) => `/payment/history/${payout(shop)}`, { name: 'of the payout wallet' }),
    read((shop) => `/payment/history/${shop.payer.address}`, { name: 'of who pays often' }),
    behindCursor((shop) => `/payment/history/${payout(shop)}`),
  ],
  paymentList: [
    read('/payments', { name: 'the first page' }),
    behindCursor(() => '/payments'),
    read('/payments?limit=500', { name: '500' }),
    read('/payments?type=received', { name: 'received' }),
    read('/payments?type=sent', { name: 'sent' }),
    read('/payments?status=expired', { name: 'a status' }),
    read('/payments?status=incomplete', { name: 'drafts' }),
    read('/payments?asset=USDC', { name: 'an asset' }),
    read('/payments?by=landed', { name: 'by when they landed' }),
    read('/payments?minAmount=1', { name: 'an amount' }),
    read('/payments?q=coffee', { name: 'a word that half have' }),
    read('/payments?q=order%20777', { name: 'a reference' }),
    read('/payments?q=platypus', { name: 'a word that none has' }),
    read((shop) => `/payments?wallets=${payout(shop)}`, { name: 'a wallet' }),
    read(() => `/payments?q=${customerAt(77)}`, { name: 'a customer' }),
    read(
      ({ rows }) =>
        `/payments?since=${Date.now() - 200 * 86_400_000}&until=${Date.now() - 199 * 86_400_000}&limit=${Math.min(50, rows)}`,
      { name: 'a day' },
    ),
  ],
  paymentSummary: [
    read('/payments/summary?days=30', { name: '30 days', mostMs: OVERVIEW_MS }),
    read('/payments/summary?days=366', { name: '366 days', mostMs: OVERVIEW_MS }),
    read((shop) => `/payments/summary?days=90&wallets=${payout(shop)}`, {
      name: '90 days of a wallet',
      mostMs: OVERVIEW_MS,
    }),
  ],
  customerList: [
    read('/customers', { name: 'by the last payment' }),
    read('/customers?sort=payments', { name: 'by payments' }),
    read(() => `/customers?wallets=${customerAt(77)}`, { name: 'one' }),
  ],
  paymentRefund: write(async ({ t }, turn) => {
    await t.evm.mine()
    const { evm: walletAddress } = t.a.managed
    const body = { paymentId: paidAt(turn, 4), walletAddress, amount: 0.001 }
    return { path: '/payment/refund', body, headers: ASYNC }
  }),
  transactionRefund: write((_shop, turn) => ({
    path: '/transaction/refund',
    body: { paymentId: paidAt(turn, 5), amount: 0.001 },
  })),
  refundRequestList: [read('/refund-requests')],
  refundRequestRead: [read((_shop, turn) => `/refund-requests/${paidAt(turn, 0)}`)],
  refundRequestCreate: write(async (shop, turn) => ({
    path: '/refund-requests',
    body: await requestRefund(shop, paidAt(turn, 1)),
  })),
  refundRequestDecline: write(async (shop, turn) => ({
    path: `/refund-requests/${await requestAt(shop, turn)}/decline`,
    body: {},
  })),
  refundRequestReopen: write(async (shop, turn) => ({
    path: `/refund-requests/${await requestAt(shop, turn)}/reopen`,
    body: {},
  })),
  unmatchedList: [read('/unmatched')],
  unmatchedAssign: write((_shop, turn) => ({
    path: `/unmatched/${copyId('umt', turn + 1)}/assign`,
    body: { paymentId: orderOfTransfer(turn + 1) },
  })),
  unmatchedUnassign: write((_shop, turn) => ({
    path: `/unmatched/${copyId('umt', turn + 1)}/unassign`,
    body: {},
  })),
  undeliveredList: [read('/undelivered')],
  undeliveredClose: write((_shop, turn) => ({
    path: `/undelivered/${undeliveredAt(turn)}/close`,
    body: {},
  })),
  undeliveredReopen: write((_shop, turn) => ({
    path: `/undelivered/${undeliveredAt(turn)}/reopen`,
    body: {},
  })),
  tokenInfo: CHAIN,
  apiKeyList: KEYS,
  apiKeyCreate: KEYS,
  apiKeyRotate: KEYS,
  apiKeyDelete: KEYS,
  usage: [read('/usage')],
  requestList: [
    read('/requests', { name: 'the newest' }),
    read('/requests?result=error', { name: 'refusals' }),
  ],
  walletList: WALLETS,
  walletCreate: WALLETS,
  payoutList: WALLETS,
  payoutChallenge: WALLETS,
  payoutRegister: WALLETS,
  payoutRelease: WALLETS,
  eventList: [read('/events', { name: 'from the first' })],
  webhookList: [read('/webhooks')],
  webhookCreate: WEBHOOKS,
  webhookUpdate: WEBHOOKS,
  webhookDelete: 'It deletes what was sent to one webhook, which is its work.',
  webhookRotate: WEBHOOKS,
  webhookTest: 'One row, and one request to the server of the merchant.',
  webhookDeliveries: [read(({ webhook }) => `/webhooks/${webhook}/deliveries`)],
  webhookRedeliver: write(({ webhook }, turn) => ({
    path: `/webhooks/${webhook}/redeliver`,
    body: { from: String(turn), to: String(turn + 10) },
  })),
}
