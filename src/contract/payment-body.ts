import * as v from 'valibot'
import { atomic, decimal, publicText, timestamp } from './fields.ts'
import { PayerEvidenceRequest } from './payer-evidence.ts'
import { DIRECTIONS, EVENT_SOURCES, EVIDENCES, PAYMENT_MODES, PAYMENT_STATUSES } from './payment.ts'

/** What the API says of a payment: its status body, its row in a list, and the events of both. */

export const Fee = v.object({
  /** In the chain's native currency. */
  amount: decimal,
  amountAtomic: atomic,
})

const PaidFee = v.object({
  ...Fee.entries,
  /** As the chain says. Null in a row from before the service recorded it, where another facilitator may have settled the payment. */
  payer: v.nullable(publicText),
})

/** The network fee of a row, and who paid it. */
export const RowFee = v.object({
  ...PaidFee.entries,
  symbol: publicText,
  decimals: v.number(),
  /** Whether a wallet of the account, or one of those that were asked for, paid it. */
  own: v.boolean(),
})
export type RowFee = v.InferOutput<typeof RowFee>

export const StatusEvent = v.object({
  status: v.picklist(PAYMENT_STATUSES),
  at: timestamp,
  /** Height of the block concerned; on Solana the slot. */
  blockHeight: v.nullable(v.number()),
  source: v.picklist(EVENT_SOURCES),
})

/** What ties the payment to its payer's transaction, and what is missing for that. */
export const Attribution = v.object({
  /** Null until the payment is seen, and for what was handed in as a proof. */
  evidence: v.nullable(v.picklist(EVIDENCES)),
  /** Any of these would do, where a transfer fits this order and nothing ties it to the order. */
  missing: v.array(v.picklist(['payer_signature', 'sender_verification'])),
  /** That transfer. */
  transfer: v.nullable(publicText),
  /** EVM: what the payer signs; `nonce` is that of the transfer, or of the transaction as it was built. */
  request: v.nullable(PayerEvidenceRequest),
  /** A transfer that a person assigned to this order. It is no evidence and moves nothing. */
  assigned: v.nullable(
    v.object({
      transferId: publicText,
      transfer: publicText,
      by: v.nullable(v.string()),
      at: timestamp,
      note: v.nullable(v.string()),
    }),
  ),
})

/** What went back of a payment. */
export const RefundState = v.object({
  /** By what was confirmed. */
  state: v.picklist(['none', 'partial', 'full']),
  /** Confirmed, in the payment's own asset. */
  refundedAtomic: atomic,
  /** Built or sent, and not decided yet: it counts against what is left. */
  pendingAtomic: atomic,
})
export type RefundState = v.InferOutput<typeof RefundState>

/** What became of several payments. Those that are unknown or another account's are left out. */
export const PaymentStatuses = v.object({
  success: v.literal(true),
  payments: v.array(
    v.object({
      paymentId: publicText,
      status: v.picklist(PAYMENT_STATUSES),
      refund: RefundState,
      /** All of it went back, and no reorganization can undo that. */
      refundFinal: v.boolean(),
      /** Its block was made after its quoted price had ended, so it counts at an old rate. */
      late: v.boolean(),
    }),
  ),
})

/** When its block was made, by the chain's clock; null before it landed, and where the chain does not say. */
const blockTime = v.nullable(timestamp)

/** Of every payment, in its status body and in its row. */
const ledgerFields = {
  /** The payment that this one returns. */
  refundOf: v.nullable(publicText),
  refund: RefundState,
  /** An order of an unverified visitor without evidence of its payer. Its text is a stranger's. */
  draft: v.boolean(),
}

export const PaymentStatusBody = v.object({
  success: v.literal(true),
  paymentId: publicText,
  mode: v.picklist(PAYMENT_MODES),
  /** As seen by the account: by the wallets it owns. */
  direction: v.picklist(DIRECTIONS),
  /** Transaction hash (EVM) or first signature (Solana) once one is known. */
  signature: v.nullable(publicText),
  status: v.picklist(PAYMENT_STATUSES),
  /** CAIP-2. */
  network: publicText,
  /** Address of the asset; the native sentinel for ETH and SOL. */
  asset: publicText,
  symbol: publicText,
  decimals: v.number(),
  amount: decimal,
  amountAtomic: atomic,
  sender: publicText,
  recipient: publicText,
  resource: v.nullable(v.string()),
  /** Height of the block the payment landed in; on Solana the slot. */
  blockHeight: v.nullable(v.number()),
  blockTime,
  confirmations: v.number(),
  requiredConfirmations: v.number(),
  /** Paid to the chain, once landed, as its row tells it; null where another payment of the account has the fee of the same transaction. */
  fee: v.nullable(
    v.object({
      ...PaidFee.entries,
      /** False where a third party executed the proof first: this is what the settlement cost that was reverted, and not the fee of the transaction in `signature`. */
      ofTransaction: v.boolean(),
    }),
  ),
  timestamp,
  expiresAt: v.nullable(timestamp),
  lastValidBlockHeight: v.nullable(v.number()),
  metadata: v.nullable(v.record(v.string(), v.unknown())),
  /** A complete x402 header value, once the payment can be proven. */
  paymentProof: v.nullable(v.string()),
  /** Why it failed, in a sentence; null otherwise. */
  failure: v.nullable(v.string()),
  ...ledgerFields,
  refundReason: v.nullable(v.string()),
  refundNote: v.nullable(v.string()),
  attribution: Attribution,
  events: v.array(StatusEvent),
})
export type PaymentStatusBody = v.InferOutput<typeof PaymentStatusBody>

export const PaymentRow = v.object({
  paymentId: publicText,
  /** As seen from the wallets that were asked for; by the wallets of the account otherwise. */
  type: v.picklist(DIRECTIONS),
  mode: v.picklist(PAYMENT_MODES),
  amount: decimal,
  amountAtomic: atomic,
  network: publicText,
  asset: publicText,
  symbol: publicText,
  decimals: v.number(),
  sender: publicText,
  recipient: publicText,
  resource: v.nullable(v.string()),
  status: v.picklist(PAYMENT_STATUSES),
  signature: v.nullable(publicText),
  timestamp,
  /** When the service noted that it was confirmed; null before that. */
  confirmedAt: v.nullable(timestamp),
  blockTime,
  /** Null before it has landed, and where another payment of the account has the fee of the same transaction. A failed one has one too. */
  fee: v.nullable(RowFee),
  /** When an upgrade removed a fee from this row that another payment of the same transaction has. Absent where nothing was corrected. */
  feeCorrectedAt: v.optional(timestamp),
  refundReason: v.nullable(v.string()),
  metadata: v.nullable(v.record(v.string(), v.unknown())),
  ...ledgerFields,
})
export type PaymentRow = v.InferOutput<typeof PaymentRow>
