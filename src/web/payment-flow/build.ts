import { t } from '@lingui/core/macro'
import { findLookAlike } from '../local-data/address-book/look-alike.ts'
import { isTwin, mayBeInWallet, type JournalEntry } from './journal.ts'
import { isPaid, isTerminal, mayHaveLeft, type PaymentInput, type PaymentState } from './machine.ts'
import type { CheckedTransaction, WalletPaymentIntent, Review } from '../payment-intent/intent.ts'
import type { Ports } from './dependencies.ts'
import { reviewPayment, withSimulation, withTwin, type ReviewFacts } from './review.ts'

type Attempted = { order: WalletPaymentIntent; attempt: number }

/** Asks the service for a transaction and reads it from its bytes. The answer is the event for the machine; it never throws. */
export async function buildForReview(ports: Ports, attempted: Attempted): Promise<PaymentInput> {
  const { order } = attempted
  const { service, chain, reader, journal, clock } = ports
  try {
    const [head, maxFeeAtomic] = await Promise.all([chain.head(order), chain.feeCap(order)])
    const reply = await service.build(order, attemptKey(attempted))
    const chainKnown = await chain.knows(order, reply.bytes)
    const attempt = { paymentId: reply.paymentId, maxFeeAtomic }
    const match = reader.match(order, { ...attempt, chainKnown }, reply.bytes)
    const byHeight =
      clock.now() + (reply.lastValidBlockHeight - head.height) * chain.blockTimeMs(order)
    const built: CheckedTransaction = {
      paymentId: reply.paymentId,
      bytes: reply.bytes,
      // What a wallet elsewhere sends is another transaction, with its own nonce and its own end.
      lastValidBlockHeight: order.byCode ? Number.MAX_SAFE_INTEGER : reply.lastValidBlockHeight,
      deadlineAt: Math.min(reply.expiresAt, byHeight),
      builtHeight: head.height,
      ...(head.slot !== undefined && { builtSlot: head.slot }),
      nonce: match.ok && !order.byCode ? reader.nonce(order, reply.bytes) : null,
      maxFeeAtomic,
      fingerprint: reply.evidence?.fingerprint ?? false,
      evidenceRequest: reply.evidence?.request ?? null,
      digest: match.digest,
    }
    const review = reviewPayment({
      match,
      steps: reader.describe(order, attempt, reply.bytes),
      simulation: match.ok
        ? { state: 'running' }
        : { state: 'unavailable', reason: t`the transaction differs.` },
      chainKnown,
      ...history(await journal.list(), order, ports.known?.() ?? []),
    })
    return { type: 'built', built, review }
  } catch (error) {
    return { type: 'build_failed', userError: service.explain(error) }
  }
}

/** The review with the outcome of the trial run through the user's RPC. */
export async function simulatePayment(
  ports: Ports,
  {
    order,
    built,
    review,
  }: { order: WalletPaymentIntent; built: CheckedTransaction; review: Review },
): Promise<Review> {
  return review.simulation.state === 'running'
    ? withSimulation(review, await ports.chain.simulate(order, built.bytes))
    : review
}

/** The review with a warning of a payment like this that was begun, or paid, since the review was built. */
export async function readTwin(
  { journal }: Pick<Ports, 'journal'>,
  { order, review }: { order: WalletPaymentIntent; review: Review },
): Promise<Review> {
  return withTwin(review, hasTwin(await journal.list(), order))
}

/** What this browser remembers about the recipient. */
function history(
  entries: readonly JournalEntry[],
  order: WalletPaymentIntent,
  known: readonly string[],
): Pick<ReviewFacts, 'twin' | 'firstTime' | 'lookAlike'> {
  // Nobody else is paid by it.
  if (order.operation) return { twin: false, firstTime: false, lookAlike: null }
  const paid = entries
    .filter(({ state }) => isPaid(state) && !state.order.operation)
    .map(({ state }) => state.order)
  const addresses = [...known, ...paid.map(({ recipient }) => recipient)]
  return {
    twin: hasTwin(entries, order),
    lookAlike:
      findLookAlike(
        order.recipient,
        addresses.map((address) => ({ address })),
      )?.address ?? null,
    // Of a refund too: which wallet had paid is the service's word.
    firstTime: !paid.some(
      ({ id, recipient, network }) =>
        id !== order.id && recipient === order.recipient && network === order.network,
    ),
  }
}

function hasTwin(entries: readonly JournalEntry[], order: WalletPaymentIntent): boolean {
  if (order.operation) return false
  return entries.some(
    ({ id, state, paidAt = 0 }) =>
      id !== order.id &&
      !state.order.operation &&
      isTwin(state.order, order) &&
      (paidAt >= order.createdAt || (!isTerminal(state) && !isPaid(state) && mayStillPay(state))),
  )
}

function mayStillPay(state: PaymentState): boolean {
  return (
    mayHaveLeft(state) || state.step === 'signed' || state.step === 'code' || mayBeInWallet(state)
  )
}

/**
 * I2: the intent's id for the first attempt; a rebuild needs a separate key, or the service would
 * return the expired transaction.
 */
function attemptKey({ order, attempt }: Attempted): string {
  return attempt === 1 ? order.id : `${order.id}.${attempt}`
}
