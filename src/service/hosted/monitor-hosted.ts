import { familyOf } from '#contract/network.ts'
import type { Chain, Head, MonitoredTransaction } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import type { AttemptRecord } from '../db/attempts.ts'
import type { MonitoredRecord } from '../db/payments.ts'
import { applyObservation, isRecorded } from '../payments/apply-observation.ts'
import { ensureInclusion, signReplacement } from './fee-bump.ts'

type HostedMonitoring = {
  payment: MonitoredRecord
  monitored: MonitoredTransaction
  /** What was signed for it, the newest first, as it was read in this round. */
  attempts: readonly AttemptRecord[]
  chain: Chain
  head: Head
}

/**
 * Looks at everything that was signed for a hosted payment, and sees it through: stored bytes are sent again until one of them lands. Only the chain's
 * proof that none of them ever can leads to a new signature.
 */
export async function monitorHosted(
  context: Context,
  { payment, monitored, attempts, chain, head }: HostedMonitoring,
): Promise<void> {
  const [newest] = attempts
  if (!newest) return
  let [pooled, newestPooled] = [false, false]
  for (const { signature } of attempts) {
    const observation = await chain.observe(signature)
    if (!isRecorded(payment, { observation }))
      await applyObservation(context, {
        paymentId: payment.id,
        signature,
        observation,
        source: 'watcher',
        read: payment,
      })
    if (observation.state === 'landed') return
    if (observation.state === 'pending') pooled = true
    if (observation.state === 'pending' && signature === newest.signature) newestPooled = true
  }
  const stuck = { payment, newest, chain }
  if (!pooled) {
    const signed = attempts.map(({ signature }) => signature)
    // Of the newest, which the next signature follows: the row may have been read before it was signed.
    const { nonce, lastValidBlockHeight } = newest
    const meant = { ...monitored, nonce, lastValidBlockHeight, signed, mayLackSigned: true }
    if (mayBeVoid(newest, head) && (await chain.canNeverLand(meant)))
      return signReplacement(context, stuck, head)
  }
  await ensureInclusion(context, stuck, newestPooled)
}

/** Whether it is worth asking for the proof. */
function mayBeVoid({ network, lastValidBlockHeight }: AttemptRecord, head: Head): boolean {
  return (
    familyOf(network) === 'evm' ||
    (lastValidBlockHeight !== null && head.finalizedBlockHeight > lastValidBlockHeight)
  )
}
