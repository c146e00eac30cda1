import { ProblemError } from '#contract/problem.ts'
import type { Context } from '../context/context.ts'
import { rebroadcast } from './broadcast.ts'
import { bumpFee, type WaitingPayment } from './fee-bump.ts'

/** How long a transaction waits at the head of its nonce queue before the network's fees are looked at again. */
const RAISE_AFTER_MS = 30_000

/**
 * Keeps the newest of a payment's transactions before the network, and offers more when it waits too long and the service pays for it.
 * @param pooled whether that very one waits in a pool: a lower offer that still waits is no reason to keep a higher one back
 */
export async function ensureInclusion(
  context: Context,
  stuck: WaitingPayment,
  pooled: boolean,
): Promise<void> {
  const { payment, newest, chain } = stuck
  if (!pooled) await rebroadcast(context, chain, newest)
  const ours = payment.mode === 'hosted' || newest.signer !== null
  // Below zero where the process that signed has a clock that is ahead: then it may have waited long.
  const waitedMs = context.now().getTime() - newest.createdAt.getTime()
  if (!ours || (waitedMs >= 0 && waitedMs <= RAISE_AFTER_MS)) return
  try {
    await bumpFee(context, stuck)
  } catch (error) {
    // Dearer than what is ever paid, or not known: what is offered already still stands.
    if (!(error instanceof ProblemError) || error.code !== 'CHAIN_UNAVAILABLE') throw error
    context.log.info(
      { paymentId: payment.id, err: error },
      'no higher fee is offered for a payment that waits',
    )
  }
}
