import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic, timestamp } from './fields.ts'

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
   * `unknown`: nothing is certain, ask again. With `restoredAt` nobody will tell: the service was
   * restored from a backup then, and does not know a payment that it may have made before.
   * `signature`: hex on EVM, base58 on Solana.
   */
  hostedSend: {
    method: 'POST',
    path: '/hosted/send',
    response: v.object({
      state: v.picklist(['sent', 'unknown']),
      paymentId: v.nullable(v.string()),
      restoredAt: v.nullable(timestamp),
    }),
  },
} as const satisfies Record<string, Call>

/**
 * The wallets of the account, and below which balance people are warned: the proxy's own endpoints.
 * What a wallet holds, browsers read from its chain.
 */

export const BalanceWallet = v.object({
  /** In normal form. */
  wallet: v.string(),
  family: v.picklist(['evm', 'solana']),
  /** Whether the service signs for it. */
  managed: v.boolean(),
  /** Null for a wallet that the merchant signs for. */
  name: v.nullable(v.string()),
  /** The only network of a contract wallet; null for every network of the family. */
  network: v.nullable(v.string()),
  /** The networks on which the service sends nothing from it until an operator has looked. */
  stopped: v.array(v.object({ network: v.string(), reason: v.string(), timestamp })),
})
export type BalanceWallet = v.InferOutput<typeof BalanceWallet>

export const BalanceAlert = v.object({
  wallet: v.string(),
  network: v.string(),
  /** Of the native currency. */
  thresholdAtomic: atomic,
})
export type BalanceAlert = v.InferOutput<typeof BalanceAlert>

const BalanceWallets = v.object({
  /** Managed wallets first. */
  wallets: v.array(BalanceWallet),
  /** False where the proxy's key may not list the wallets: those of its configuration then. */
  complete: v.boolean(),
  alerts: v.array(BalanceAlert),
})
export type BalanceWallets = v.InferOutput<typeof BalanceWallets>

export const balanceEndpoints = {
  balanceWallets: { method: 'GET', path: '/balances', response: BalanceWallets },
  /** The thresholds alone: asks neither the service nor a chain. */
  balanceAlerts: {
    method: 'GET',
    path: '/balances/alerts',
    response: v.object({
      alerts: v.array(v.object({ ...BalanceAlert.entries, name: v.string() })),
    }),
  },
  /** Sets the threshold of a managed wallet on a network, or removes it. */
  balanceAlert: {
    method: 'POST',
    path: '/balances/alert',
    response: v.object({ alert: v.nullable(BalanceAlert) }),
  },
} as const satisfies Record<string, Call>
