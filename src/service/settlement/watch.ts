import type { Chain, Observation } from '../chains/chain.ts'
import { DeadlineExceededError, type Deadline } from '../verification/proof-time.ts'
import type { LandedObservation } from '../verification/validate-transfer.ts'

const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 1_000

/**
 * Looks at a transaction until its outcome is certain, or the deadline passes: then what was seen last, or nothing when no node has answered.
 * @param stop ends the wait early, where what the pool shows decides already
 * @param twice asks a second endpoint where the first shows nothing
 */
export async function watch(
  chain: Chain,
  {
    signature,
    deadline,
    stop,
    twice = false,
  }: {
    signature: string
    deadline: Deadline
    stop?: (seen: Observation) => boolean
    twice?: boolean | undefined
  },
): Promise<Observation | undefined> {
  const pause = Math.min(Math.max(chain.network.blockTimeMs / 2, MIN_PAUSE_MS), MAX_PAUSE_MS)
  let last: Observation | undefined
  while (!deadline.passed) {
    try {
      last = await deadline.within(twice ? chain.observeTwice(signature) : chain.observe(signature))
    } catch (error) {
      if (error instanceof DeadlineExceededError) return last
      throw error
    }
    if (isCertain(last) || stop?.(last)) return last
    await deadline.sleep(pause)
  }
  return last
}

/** By the network's policy; before that, a block may still be replaced. That a transaction failed is certain only when it is final. */
export function isCertain(observation: Observation): observation is LandedObservation {
  return (
    observation.state === 'landed' &&
    (observation.succeeded ? observation.confirmed : observation.finalized)
  )
}
