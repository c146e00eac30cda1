import type { Observation } from './chain.ts'

/**
 * A failure is told for ever, so one node's word is not enough for it: what two addresses do not both show as failed and final is still open.
 * @param again what two addresses show, or the only one when it is asked twice
 */
export async function ifForEver(
  seen: Observation,
  again: () => Promise<readonly Observation[]>,
): Promise<Observation> {
  if (!isForEver(seen)) return seen
  if ((await again()).every(isForEver)) return seen
  return { state: 'pending', transfer: 'transfer' in seen ? seen.transfer : undefined }
}

function isForEver(seen: Observation): boolean {
  return seen.state === 'landed' && !seen.succeeded && seen.finalized
}
