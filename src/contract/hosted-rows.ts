import * as v from 'valibot'
import { address } from './address-field.ts'
import {
  assetName,
  boundedText,
  decimal,
  networkName,
  paymentId,
  resource,
  storedText,
} from './fields.ts'
import { MOST_REASON } from './refund-request.ts'

const intentNonce = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{32}$/, 'Expected the nonce of a payment to sign.'),
)

/** Bodies of the endpoints of payments from managed wallets. Not for browsers, which check what is typed themselves. */
export const hostedRows = {
  hostedIntent: {
    body: v.strictObject({
      network: networkName,
      from: address,
      to: address,
      asset: assetName,
      amount: decimal,
      /** In the native currency; the service decides without it. */
      priorityFee: v.optional(decimal),
      resource: v.optional(resource),
      description: v.optional(storedText(MOST_REASON)),
      reference: v.optional(storedText(100)),
      /** The payment that this one refunds: it decides `to`, `network`, `asset` and the reference, and `description` is the reason. */
      refundOf: v.optional(paymentId),
      /** The operator's wallet that will sign; of the network's family. */
      signer: address,
    }),
  },
  hostedSend: { body: v.strictObject({ nonce: intentNonce, signature: boundedText(200) }) },
} as const
