import { ProblemError } from '#contract/problem.ts'
import type { Context } from '../context/context.ts'
import { pushAgain } from './push.ts'
import { raiseFee, type Stuck } from './sign-again.ts'

/** How long a transaction waits at the head of its lane before the network's fees are looked at again. */
const RAISE_AFTER_MS = 30_000

/**
 * Keeps the newest of a payment's transactions before the network, and offers more when it waits too long and the service pays for it.
 * @param pooled whether that very one waits in a pool: a lower offer that still waits is no reason to keep a higher one back
 */
export async function seeThrough(context: Context, stuck: Stuck, pooled: boolean): Promise<void> {
  const { payment, newest, chain } = stuck
  if (!pooled) await pushAgain(context, chain, newest)
  const ours = payment.mode === 'hosted' || newest.signer !== null
  if (!ours || context.now().getTime() - newest.createdAt.getTime() <= RAISE_AFTER_MS) return
  try {
    await raiseFee(context, stuck)
  } catch (error) {
    // Dearer than what is ever paid, or not known: what is offered already still stands.
    if (!(error instanceof ProblemError) || error.code !== 'CHAIN_UNAVAILABLE') throw error
    context.log.info(
      { paymentId: payment.id, err: error },
      'no higher fee is offered for a payment that waits',
    )
  }
}
