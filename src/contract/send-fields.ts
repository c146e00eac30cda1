import * as v from 'valibot'
import {
  address,
  assetName,
  boundedText,
  decimal,
  loggedAs,
  metadata,
  networkName,
  paymentId,
  resource,
  storedText,
} from './fields.ts'

/** What both modes take to pay (specification section 2). */
export const sendFields = {
  walletAddress: address,
  recipientAddress: v.pipe(boundedText(200), loggedAs(address)),
  amount: decimal,
  resource: v.optional(resource),
  metadata: v.optional(metadata),
  priorityFee: v.optional(decimal),
  /** Addition: CAIP-2; the account's default of the wallet's family otherwise. */
  network: v.optional(networkName),
  /** Addition: an address or a configured symbol; native otherwise. */
  asset: v.optional(assetName),
}

/** What both modes take to return a payment. Recipient, network, asset and reference are the original's. */
export const refundFields = {
  /** The payment to return. */
  paymentId,
  /** The wallet that pays; the recipient of the original otherwise. */
  walletAddress: v.optional(address),
  /** All that is left of the original otherwise. */
  amount: v.optional(decimal),
  /** Kept with the refund. Everybody who may see the refund reads both, its payer included. */
  reason: v.optional(storedText(300)),
  note: v.optional(storedText(1_000)),
  priorityFee: v.optional(decimal),
  /** Kept with the refund. Its `referenceId` is the original's. */
  metadata: v.optional(metadata),
}
