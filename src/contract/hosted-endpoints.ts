import * as v from 'valibot'
import { address } from './address-field.ts'
import { assetName, atomic, boundedText, decimal, networkName, noNul, resource } from './fields.ts'

/**
 * Payments from managed wallets, for operators: the proxy's own endpoints, off unless the
 * configuration enables them.
 */

const text = (max: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Expected some text.'),
    v.maxLength(max, `Expected at most ${max} characters.`),
    noNul(),
  )

/** A wallet that the service signs for, and how much of an asset may be sent from it here. */
export const HostedWallet = v.object({
  name: v.string(),
  wallet: v.string(),
  network: v.string(),
  asset: v.string(),
  maxPerPaymentAtomic: atomic,
  maxPerDayAtomic: atomic,
  /** In the last 24 hours. */
  spentAtomic: atomic,
})
export type HostedWallet = v.InferOutput<typeof HostedWallet>

const intentNonce = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{32}$/, 'Expected the nonce of a payment to sign.'),
)

export const hostedEndpoints = {
  /** Empty while it is off. */
  hostedWallets: {
    method: 'GET',
    path: '/hosted',
    response: v.object({ wallets: v.array(HostedWallet) }),
  },
  /**
   * Stores what is to be paid, and returns what is needed to sign it. Valid for five minutes, for
   * one payment, in this session.
   */
  hostedIntent: {
    method: 'POST',
    path: '/hosted/intent',
    body: v.strictObject({
      network: networkName,
      from: address,
      to: address,
      asset: assetName,
      amount: decimal,
      resource: v.optional(resource),
      description: v.optional(text(200)),
      reference: v.optional(text(100)),
      /** The operator's wallet that will sign; of the network's family. */
      signer: address,
    }),
    response: v.object({
      nonce: v.string(),
      amountAtomic: atomic,
      /** Unix seconds. */ expiresAt: v.number(),
    }),
  },
  /**
   * Pays, once. The same request again never pays again: it returns the outcome of the first.
   * `unknown`: nothing is certain, ask again.
   * `signature`: hex on EVM, base58 on Solana.
   */
  hostedSend: {
    method: 'POST',
    path: '/hosted/send',
    body: v.strictObject({ nonce: intentNonce, signature: boundedText(200) }),
    response: v.object({
      state: v.picklist(['sent', 'unknown']),
      paymentId: v.nullable(v.string()),
    }),
  },
} as const
