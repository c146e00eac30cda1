import * as v from 'valibot'
import { address } from './address-field.ts'
import { assetName, boundedText, decimal, metadata, networkName, resource } from './fields.ts'

/** What both modes take to pay (specification section 2). */
export const sendFields = {
  walletAddress: address,
  recipientAddress: boundedText(200),
  amount: decimal,
  resource: v.optional(resource),
  metadata: v.optional(metadata),
  priorityFee: v.optional(decimal),
  /** Addition: CAIP-2; the account's default of the wallet's family otherwise. */
  network: v.optional(networkName),
  /** Addition: an address or a configured symbol; native otherwise. */
  asset: v.optional(assetName),
}
