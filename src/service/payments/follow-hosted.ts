import { familyOf } from '#contract/network.ts'
import type { Chain, Head, Wanted } from '../chains/chain.ts'
import type { Context } from '../context.ts'
import { readAttempts } from '../db/attempts.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { applyObservation } from './apply-observation.ts'
import { pushAgain } from './push.ts'
import { raiseFee, signAgain } from './sign-again.ts'

/** How long a transaction waits at the head of its lane before the network's fees are looked at again. */
const RAISE_AFTER_MS = 30_000

type Follow = { payment: PaymentRecord; wanted: Wanted; chain: Chain; head: Head }

/**
 * Looks at everything that was signed for a hosted payment, and sees it through: stored bytes are sent again until one of them lands. Only the chain's
 * proof that none of them ever can leads to a new signature.
 */
export async function followHosted(context: Context, { payment, wanted, chain, head }: Follow): Promise<void> {
  const attempts = await readAttempts(context.db, payment.id)
  const [newest] = attempts
  if (!newest) return
  let [pooled, newestPooled] = [false, false]
  for (const { signature } of attempts) {
    const observation = await chain.observe(signature)
    await applyObservation(context, { paymentId: payment.id, signature, observation, source: 'watcher' })
    if (observation.state === 'landed') return
    if (observation.state === 'pending') pooled = true
    if (observation.state === 'pending' && signature === newest.signature) newestPooled = true
  }
  const stuck = { payment, newest, chain }
  if (!pooled) {
    const signed = attempts.map(({ signature }) => signature)
    if (mayBeVoid(payment, head) && (await chain.canNeverLand({ ...wanted, signed }))) return signAgain(context, stuck)
  }
  // A lower offer that still waits is no reason to keep a higher one back.
  if (!newestPooled) await pushAgain(context, chain, newest)
  if (context.now().getTime() - newest.createdAt.getTime() > RAISE_AFTER_MS) await raiseFee(context, stuck)
}

/** Whether it is worth asking for the proof. */
function mayBeVoid({ network, lastValidBlockHeight }: PaymentRecord, head: Head): boolean {
  return familyOf(network) === 'evm' || (lastValidBlockHeight !== null && head.finalizedBlockHeight > lastValidBlockHeight)
}
