import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic, timestamp } from './fields.ts'

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
