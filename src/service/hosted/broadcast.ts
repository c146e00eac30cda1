import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { takeBroadcast, type AttemptRecord } from '../db/attempts.ts'
import { recordMove } from '../db/record-payment.ts'

/**
 * Bytes that a node has accepted need a moment to show up; before that, sending them again is
 * noise.
 */
const AGAIN_AFTER_MS = 2_000
/** What waits in the pool of one node for this long may be in no other. */
const POOLED_AFTER_MS = 30_000

/**
 * Broadcasts the stored bytes. They may have left regardless of the reply: only the chain shows
 * what becomes of them.
 */
export async function broadcastStored(
  context: Context,
  chain: Chain,
  attempt: Pick<AttemptRecord, 'paymentId' | 'signature' | 'signedTransaction'>,
): Promise<void> {
  const { paymentId, signature, signedTransaction } = attempt
  try {
    const outcome = await chain.broadcast(Buffer.from(signedTransaction, 'base64'))
    if (!outcome.accepted)
      context.log.warn(
        { paymentId, signature, reason: outcome.reason },
        'the network did not take a transaction; the watcher goes on',
      )
  } catch (error) {
    context.log.warn(
      { paymentId, signature, err: error },
      'a transaction could not be handed to the network; the watcher goes on',
    )
  }
}

/**
 * Sends stored bytes again, unless that happened a moment ago.
 * @param pooled whether they wait in the pool of a node
 */
export async function rebroadcast(
  context: Context,
  chain: Chain,
  { attempt, pooled }: { attempt: AttemptRecord; pooled: boolean },
): Promise<void> {
  const now = context.now()
  const before = new Date(now.getTime() - (pooled ? POOLED_AFTER_MS : AGAIN_AFTER_MS))
  const { broadcastAt } = attempt
  if (broadcastAt && before <= broadcastAt && broadcastAt <= now) return
  if (!(await takeBroadcast(context.db, attempt, { now, before }))) return
  await broadcastStored(context, chain, attempt)
  await recordPending(context, attempt.paymentId)
}

/** Records that a payment's bytes have left. */
export async function recordPending(context: Context, paymentId: string): Promise<void> {
  const at = context.now()
  await recordMove(
    context.db,
    { id: paymentId, from: 'created', to: 'pending', at, facts: { broadcastAt: at } },
    { source: 'service', blockHeight: null },
  )
}
