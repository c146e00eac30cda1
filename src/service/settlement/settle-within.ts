import { familyOf, type Network } from '#contract/network.ts'

/** The patience of the official `HTTPFacilitatorClient`. */
export const OFFICIAL_PATIENCE_MS = 90_000

const LEAST_MS = 60_000
const MOST_MS = 600_000
/** Blocks that may pass before the payment is in one, and the time in which we hear of the last. */
const SPARE_BLOCKS = 2
const MARGIN_MS = 5_000

/** How long a payment on a network takes to be confirmed by its policy, in milliseconds. On Solana that is the cluster's own commitment. */
export function confirmationMs({ network, confirmations, blockTimeMs }: Network): number {
  return familyOf(network) === 'evm' ? (confirmations + SPARE_BLOCKS) * blockTimeMs + MARGIN_MS : 0
}

/** How long a settlement is waited for, in milliseconds: as long as its confirmation needs, from one to ten minutes. */
export function settleWithinMs(network: Network): number {
  return Math.min(Math.max(confirmationMs(network), LEAST_MS), MOST_MS)
}

/** What an operator should know at the start; undefined where every official client waits long enough. */
export function describeSlowness(network: Network): string | undefined {
  const needed = confirmationMs(network)
  if (needed <= OFFICIAL_PATIENCE_MS) return undefined
  const seconds = Math.ceil(needed / 1000)
  return `A payment on ${network.name} needs ${network.confirmations} confirmations, about ${seconds} s. Official x402 clients give up after ${OFFICIAL_PATIENCE_MS / 1000} s: lower "confirmations" of this network, or expect their buyers to send a payment twice.`
}
