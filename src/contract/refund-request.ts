import * as v from 'valibot'
import { formatAmount } from './amount.ts'
import type { Call } from './endpoint.ts'
import { atomic, decimal, timestamp } from './fields.ts'
import { chainIdOf, type NetworkId } from './network.ts'

/** A payment has at most so many requests, one open at a time. */
export const MOST_REFUND_REQUESTS = 3
export const MOST_REASON = 300

/** What a payer signs to ask for a payment back. It moves nothing. */
export type RefundRequestTerms = {
  paymentId: string
  /** The first request of a payment is 1. A number counts once, so what was signed does too. */
  number: number
  network: NetworkId
  /** 32 bytes in hex: what is signed for one deployment means nothing to another one. */
  deployment: string
  payer: string
  asset: string
  symbol: string
  decimals: number
  amountAtomic: bigint
  /** Empty without one. */
  reason: string
}

const FIELDS = [
  { name: 'paymentId', type: 'string' },
  { name: 'number', type: 'uint256' },
  { name: 'payer', type: 'address' },
  { name: 'asset', type: 'address' },
  { name: 'amount', type: 'uint256' },
  { name: 'reason', type: 'string' },
] as const

/** Typed data (EIP-712) of a request on an EVM network. `amount` in atomic units. */
export function refundRequestTypedData(terms: RefundRequestTerms) {
  const { paymentId, number, network, deployment, payer, asset, amountAtomic, reason } = terms
  return {
    domain: {
      name: 'Paydesk Refund Request',
      version: '1',
      chainId: chainIdOf(network),
      salt: deployment,
    },
    types: { RefundRequest: FIELDS },
    primaryType: 'RefundRequest',
    message: {
      paymentId,
      number: String(number),
      payer,
      asset,
      amount: amountAtomic.toString(),
      reason,
    },
  } as const
}

/** The text of a request on Solana. The reason is quoted, so that it cannot look like another line. */
export function refundRequestText(terms: RefundRequestTerms): string {
  const { paymentId, number, network, deployment, payer, asset, symbol, decimals } = terms
  const { amountAtomic, reason } = terms
  return [
    'Ask for a refund of a payment. Signing this moves no money.',
    '',
    `Payment: ${paymentId}`,
    `Request: ${number}`,
    `Amount: ${formatAmount(amountAtomic, decimals)} ${symbol} (${amountAtomic} units)`,
    `Payer: ${payer}`,
    `Asset: ${asset}`,
    `Network: ${network}`,
    ...(reason === '' ? [] : [`Reason: ${JSON.stringify(reason)}`]),
    `Deployment: ${deployment}`,
  ].join('\n')
}

/** `refunding`: refunds that cover it are sent, or built and not expired. Decided by the chain, so a reorganization can move it back. */
export const REFUND_REQUEST_STATES = ['open', 'refunding', 'refunded', 'declined'] as const

/** A payer's request. The reason is a customer's text. */
export const RefundRequest = v.object({
  requestId: v.string(),
  paymentId: v.string(),
  number: v.number(),
  state: v.picklist(REFUND_REQUEST_STATES),
  /** The wallet that paid, and signed the request. */
  payer: v.string(),
  /** The wallet that was paid. */
  recipient: v.string(),
  /** CAIP-2. */
  network: v.string(),
  asset: v.string(),
  symbol: v.string(),
  decimals: v.number(),
  amount: decimal,
  amountAtomic: atomic,
  reason: v.nullable(v.string()),
  /** Over `refundRequestTypedData` or `refundRequestText` of these fields. */
  signature: v.string(),
  timestamp,
  /** Null while nobody has declined it. The payer reads the note. */
  declined: v.nullable(
    v.object({ at: timestamp, by: v.nullable(v.string()), note: v.nullable(v.string()) }),
  ),
})
export type RefundRequest = v.InferOutput<typeof RefundRequest>

/** In a list also what the payment is for, so that two requests of one payer can be told apart. */
export const ListedRefundRequest = v.object({
  ...RefundRequest.entries,
  resource: v.nullable(v.string()),
  /** Of the payment. It may be a customer's text. */
  metadata: v.nullable(v.record(v.string(), v.unknown())),
})
export type ListedRefundRequest = v.InferOutput<typeof ListedRefundRequest>

const One = v.object({ success: v.literal(true), request: RefundRequest })

/** Additions: refunds that payers ask for. A request moves nothing. */
export const refundRequestEndpoints = {
  refundRequestList: {
    method: 'GET',
    path: '/refund-requests',
    response: v.object({
      success: v.literal(true),
      total: v.number(),
      requests: v.array(ListedRefundRequest),
    }),
  },
  refundRequestRead: {
    method: 'GET',
    path: '/refund-requests/:paymentId',
    response: v.object({
      success: v.literal(true),
      paymentId: v.string(),
      /** Newest first. */
      requests: v.array(RefundRequest),
      /** What the payer may ask for now, and what they sign beside it; null where nothing. */
      next: v.nullable(
        v.object({ number: v.number(), deployment: v.string(), amountAtomic: atomic }),
      ),
    }),
  },
  refundRequestCreate: { method: 'POST', path: '/refund-requests', response: One },
  refundRequestDecline: {
    method: 'POST',
    path: '/refund-requests/:requestId/decline',
    response: One,
  },
  refundRequestReopen: {
    method: 'POST',
    path: '/refund-requests/:requestId/reopen',
    response: One,
  },
} as const satisfies Record<string, Call>
