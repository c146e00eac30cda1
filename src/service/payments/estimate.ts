import type { Network } from '#contract/network.ts'

/** From one block time before the confirmations are there to as long again, in whole seconds. */
export function estimateConfirmation({ blockTimeMs, confirmations }: Network): string {
  const seconds = Math.max(1, Math.ceil((blockTimeMs * confirmations) / 1000))
  return `${seconds}-${seconds * 2 + 1} seconds`
}
