import type { Observation } from './chain.ts'

/**
 * A failure is reported permanently, so one node's word is not enough: it stays open unless two RPC
 * endpoints both show it as failed and final.
 * @param again what two endpoints show, or the only one when it is asked twice
 */
export async function requireQuorumFinality(
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
