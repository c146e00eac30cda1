import { isTerminal, mayHaveLeft, type PaymentInput, type PaymentState } from './machine.ts'
import type { PaymentChain, Clock } from '../payment-intent/ports.ts'

/** What the follower needs of a run: its present state, and the way to move it on. */
export type MonitoredPayment = {
  state(): PaymentState
  dispatch(event: PaymentInput): Promise<void>
  /** Tells the service once, beside all else; never throws. */
  report(): void
  signal: AbortSignal
}

export const POLL_EVERY_MS = 2_000
/** After this long without an outcome the looks at the chain get rarer. */
const PATIENT_AFTER_MS = 120_000
const PATIENT_EVERY_MS = 10_000

/**
 * Follows a payment whose bytes may have left until its outcome is settled: sends the same bytes again, looks at the chain through
 * the user's RPC, and lets the machine decide. The first look after a reload and the hundredth are the same.
 */
export async function pollPayment(
  followed: MonitoredPayment,
  chain: PaymentChain,
  clock: Clock,
): Promise<void> {
  const startedAt = clock.now()
  while (!followed.signal.aborted) {
    const state = followed.state()
    if (!mayHaveLeft(state) || isTerminal(state)) return
    if (state.sent.bytes && state.step !== 'confirmed') await sendAgain(chain, state)
    const reading = await chain.read(state.order, state.built, state.sent)
    if (followed.signal.aborted) return
    // What the journal cannot keep now is read again: a payment is never given up for that.
    await followed.dispatch({ type: 'read', reading }).catch(() => undefined)
    followed.report()
    if (isTerminal(followed.state())) return
    await clock.sleep(
      clock.now() - startedAt > PATIENT_AFTER_MS ? PATIENT_EVERY_MS : POLL_EVERY_MS,
      followed.signal,
    )
  }
}

/** The outcome is read from the chain, not from this answer: an RPC may refuse bytes it has already passed on. */
async function sendAgain(
  chain: PaymentChain,
  state: Extract<PaymentState, { sent: unknown }>,
): Promise<void> {
  if (!state.sent.bytes) return
  try {
    await chain.broadcast(state.order, state.sent.bytes)
  } catch {
    // Said above: only a reading decides.
  }
}
