import * as v from 'valibot'
import {
  address,
  assetName,
  atomic,
  boundedText,
  decimal,
  describe,
  networkName,
  plainNumber,
  publicText,
  resource,
  timestamp,
} from './fields.ts'
import { PAYMENT_STATUSES } from './payment.ts'
import { ProofCheck } from './proof.ts'

/** What a seller hands in to have a payment proof checked, and what it is told. */

const timeout = v.pipe(
  plainNumber,
  v.check(
    (seconds) => seconds >= 1 && seconds <= 120,
    (issue) => `Expected seconds from 1 to 120, received ${describe(issue.input)}.`,
  ),
)

/** Of both modes (specification section 2). */
export const proofFields = {
  /** The payee. */
  walletAddress: address,
  /** The value of `X-PAYMENT` or `PAYMENT-SIGNATURE`. */
  paymentProof: boundedText(65_536),
  expectedAmount: decimal,
  resource: v.optional(resource),
  facilitatorUrl: v.optional(boundedText(2048)),
  /** Additions from here on. CAIP-2; the account's default of the wallet's family otherwise. */
  network: v.optional(networkName),
  /** An address or a configured symbol; native otherwise. */
  asset: v.optional(assetName),
  /** The method that the seller offered, in the words of x402; any that moves the asset otherwise. */
  assetTransferMethod: v.optional(boundedText(64)),
  /** Solana: the memo that was asked for; without it, or beside it where a resource is named, the memo may be the id of a payment of this account for it. */
  memo: v.optional(v.pipe(boundedText(256), v.minLength(1, 'Expected a memo.'))),
  /** Unix milliseconds between which the payment must have landed, with a minute's grace: what the seller told the payer. */
  notBefore: v.optional(timestamp),
  expiresAt: v.optional(timestamp),
}

export const ReceiveInput = v.strictObject({ ...proofFields, timeout: v.optional(timeout, 30) })
export type ReceiveInput = v.InferOutput<typeof ReceiveInput>

export const ReceiveBody = v.object({
  success: v.literal(true),
  /** True once the payee has the money by the network's policy; false while it is not certain yet (202). */
  verified: v.boolean(),
  /** Whether an earlier call was told already that this payment is there: serve the resource once. */
  alreadyProcessed: v.boolean(),
  /** Null while nothing is recorded: the transaction has not landed yet. */
  paymentId: v.nullable(publicText),
  /** Transaction hash (EVM) or first signature (Solana). */
  signature: publicText,
  status: v.picklist(PAYMENT_STATUSES),
  network: publicText,
  asset: publicText,
  symbol: publicText,
  decimals: v.number(),
  amountReceived: decimal,
  amountAtomic: atomic,
  /** Null while only the chain could tell. */
  sender: v.nullable(publicText),
  recipient: publicText,
  resource: v.nullable(v.string()),
  blockHeight: v.nullable(v.number()),
  timestamp,
  /** For example `45ms`. */
  verificationTime: publicText,
  /** Who verified it beside the service's own reading of the chain: `in-process`, or the facilitator's address. */
  verifiedBy: publicText,
  checks: v.array(ProofCheck),
})
