import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic } from './fields.ts'

/**
 * Payments from managed wallets, for operators: the proxy's own endpoints, off unless the
 * configuration enables them.
 */

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
    response: v.object({
      state: v.picklist(['sent', 'unknown']),
      paymentId: v.nullable(v.string()),
    }),
  },
} as const satisfies Record<string, Call>
