import * as v from 'valibot'
import { atomic, decimal, publicText, timestamp } from './fields.ts'
import { Fee } from './payment-body.ts'
import { PAYMENT_STATUSES } from './payment.ts'
import { ProofCheck } from './proof.ts'
import { proofFields } from './receive.ts'

/** What a seller hands in to settle a payment proof itself, and the transaction it gets for that. */
export const SettlementInput = v.strictObject({ ...proofFields, priorityFee: v.optional(decimal) })
export type SettlementInput = v.InferOutput<typeof SettlementInput>

const SETTLEMENTS = ['required', 'broadcast_only', 'already_settled'] as const
const SETTLEMENT_KINDS = [
  'eip3009',
  'permit2',
  'token-transfer',
  'native-transfer',
  'signed-transaction',
  'receipt',
] as const

export const SettlementBody = v.object({
  success: v.literal(true),
  /** Whether every check of the proof held. The money is there only when `settlement` is `already_settled`, or once `paymentId` is confirmed. */
  verified: v.boolean(),
  /** Whether an earlier call was told already that this payment is there: serve the resource once. */
  alreadyProcessed: v.boolean(),
  paymentId: publicText,
  status: v.picklist(PAYMENT_STATUSES),
  /**
   * required: the payee signs `transaction` and broadcasts it. broadcast_only: nobody has to sign any more.
   * already_settled: the payer has been charged; sending `transaction` only writes on the chain that the payee acknowledges it.
   */
  settlement: v.picklist(SETTLEMENTS),
  kind: v.picklist(SETTLEMENT_KINDS),
  /** Base64. */
  transaction: v.string(),
  encoding: v.picklist(['solana-wire-v0', 'evm-rlp-unsigned', 'evm-rlp-signed']),
  /** Whose signature it lacks; null when it lacks none. */
  signer: v.nullable(publicText),
  /** Height after which the transaction is no longer accepted; on Solana the latest possible one. */
  lastValidBlockHeight: v.number(),
  /** Unix milliseconds. */
  expiresAt: timestamp,
  /** Transaction hash (EVM) or first signature (Solana) of the payment where it is known. */
  signature: v.nullable(publicText),
  network: publicText,
  asset: publicText,
  symbol: publicText,
  decimals: v.number(),
  amount: decimal,
  amountAtomic: atomic,
  sender: publicText,
  recipient: publicText,
  resource: v.nullable(v.string()),
  /** The most the transaction can cost the payee, in native currency; null where the payer pays for it. */
  fee: v.nullable(v.object({ ...Fee.entries, priorityFee: decimal })),
  estimatedConfirmation: v.string(),
  /** The fields a wallet that takes fields is asked with; a convenience, never what a signer should trust. */
  decoded: v.record(v.string(), v.unknown()),
  checks: v.array(ProofCheck),
})
