import { familyOf } from '#contract/network.ts'
import type {
  CheckedTransaction,
  Finding,
  LandedPayment,
  WalletPaymentIntent,
  Reading,
  Review,
  Sent,
  UserError,
} from '../payment-intent/intent.ts'
import { verdictOf } from './review.ts'
import { describeUserError } from '../errors/error-messages.ts'

/**
 * The payment machine: one pure function from a state and an event to the next state. Checkout and
 * every other page that pays use it.
 *
 * The invariants it enforces itself: I1 (nothing is rebuilt after bytes may have left until the
 * chain proves they cannot land), I3 (signed bytes stay in the state until it is terminal), I4
 * (paid only by our own RPC and an equal transfer), I5 (a changed signer leads to a rebuild), I6
 * (only what was reviewed is signed). `run.ts` enforces I2 and I7.
 */

type Base = {
  order: WalletPaymentIntent
  /** Counts from 1; every rebuild is the next attempt of the same order. */
  attempt: number
}

type Out = Base & {
  built: CheckedTransaction
  sent: Sent
  /** No RPC endpoint answered when the chain was last read: what is known is of before. */
  unavailable?: boolean
}

export type PaymentState =
  | (Base & { step: 'draft'; userError: UserError | null })
  | (Base & { step: 'building' })
  | (Base & { step: 'review'; built: CheckedTransaction; review: Review })
  | (Base & {
      step: 'awaiting_wallet'
      built: CheckedTransaction
      review: Review
      since: number
      keepsNonce: boolean
    })
  | (Base & { step: 'rejected'; built: CheckedTransaction; review: Review; userError: UserError })
  /** A wallet elsewhere can read it as a code; what it sends is named by the service. */
  | (Base & { step: 'code'; built: CheckedTransaction })
  | (Base & { step: 'expired_unsigned'; reason: 'deadline' | 'signer_changed' })
  | (Base & { step: 'cancelled' })
  | (Out & { step: 'signed' })
  | (Out & { step: 'broadcast'; since: number })
  /** Seen by our own RPC; `landed` is set once it is in a block that is not confirmed yet. */
  | (Out & { step: 'submitted'; landed: LandedPayment | null; outcome: LandedOutcome | null })
  | (Out & {
      step: 'unknown'
      reason: UnknownReason
      absentSince: number | null
      /** Whether the wallet that was asked keeps the nonce of the transaction it is asked with. */
      keepsNonce: boolean
    })
  | (Out & { step: 'confirmed'; landed: LandedPayment })
  | (Out & { step: 'finalized'; landed: LandedPayment })
  | (Out & { step: 'rolled_back'; landed: LandedPayment; absentSince: number | null })
  | (Out & {
      step: 'failed'
      reason: FailReason
      detail: string | null
      landed: LandedPayment | null
    })

/** From the signature on: only the chain decides. */
export type OutgoingState = Extract<PaymentState, { sent: Sent }>

export type LandedOutcome = 'paid' | 'reverted' | 'other'
/** `nonce_taken`: by another transaction, and nothing shows that this one had it. */
export type UnknownReason = 'wallet_lost' | 'not_seen' | 'nonce_taken'
/**
 * `expired` and `superseded` prove that the attempt can never land, or the payer says that the
 * wallet cancelled it; `reverted` and `other` are what landed instead of a payment.
 */
export type FailReason = 'expired' | 'superseded' | 'reverted' | 'other'

export type PaymentInput =
  | { type: 'build' }
  | { type: 'build_failed'; userError: UserError }
  | { type: 'built'; built: CheckedTransaction; review: Review }
  | { type: 'simulated'; review: Review }
  | { type: 'warned'; review: Review }
  | { type: 'deadline_passed' }
  | { type: 'signer_changed' }
  | { type: 'sign'; at: number; digest: string; ticked: readonly string[]; keepsNonce: boolean }
  | { type: 'wallet_refused'; userError: UserError }
  | { type: 'wallet_lost' }
  | { type: 'code_paid'; at: number; signature: string }
  | { type: 'signed'; sent: Sent }
  | { type: 'signed_other'; finding: Finding }
  | { type: 'wallet_sent'; at: number; sent: Sent }
  | { type: 'send'; at: number }
  | { type: 'read'; reading: Reading }
  | { type: 'rebuild' }
  | { type: 'cancel' }
  | { type: 'cancelled_in_wallet' }

/** Minimum gap between the two readings that prove a transaction gone. */
export const ABSENCE_GAP_MS = 10_000
/** A transaction not seen for this long after it left is `unknown`, not `failed`. */
export const UNSEEN_AFTER_MS = 30_000

export function startPayment(order: WalletPaymentIntent): PaymentState {
  return { step: 'draft', order, attempt: 1, userError: null }
}

/**
 * The next state. An event that does not apply in a state leaves it unchanged: late answers from a
 * wallet or an RPC are normal.
 */
export function reduce(state: PaymentState, event: PaymentInput): PaymentState {
  switch (event.type) {
    case 'build':
      return state.step === 'draft' ? { ...base(state), step: 'building' } : state
    case 'build_failed':
      return state.step === 'building'
        ? { ...base(state), step: 'draft', userError: event.userError }
        : state
    case 'built':
      if (state.step !== 'building') return state
      return state.order.byCode
        ? { ...base(state), step: 'code', built: event.built }
        : { ...base(state), step: 'review', built: event.built, review: event.review }
    case 'simulated':
      return state.step === 'review' || state.step === 'rejected'
        ? { ...state, review: event.review }
        : state
    case 'warned':
      return state.step === 'review' || state.step === 'rejected'
        ? { ...base(state), step: 'review', built: state.built, review: event.review }
        : state
    case 'deadline_passed':
      return expire(state, 'deadline')
    case 'signer_changed':
      return expire(state, 'signer_changed')
    case 'sign':
      return sign(state, event)
    case 'wallet_refused':
      return refuse(state, event.userError)
    case 'wallet_lost':
      return loseWallet(state)
    case 'code_paid':
      return state.step === 'code'
        ? broadcast(state, { bytes: null, signature: event.signature }, event.at)
        : state
    case 'signed':
      return state.step === 'awaiting_wallet'
        ? { ...base(state), step: 'signed', built: state.built, sent: event.sent }
        : state
    case 'signed_other':
      return state.step === 'awaiting_wallet' ? blockReview(state, event.finding) : state
    case 'wallet_sent':
      return state.step === 'awaiting_wallet' || canRepeatRequest(state)
        ? broadcast(state, event.sent, event.at)
        : state
    case 'send':
      return state.step === 'signed' ? broadcast(state, state.sent, event.at) : state
    case 'read':
      return mayHaveLeft(state) ? read(state, event.reading) : state
    case 'rebuild':
      return canRebuild(state)
        ? { order: state.order, attempt: state.attempt + 1, step: 'building' }
        : state
    case 'cancel':
      return canCancel(state) ? { ...base(state), step: 'cancelled' } : state
    case 'cancelled_in_wallet':
      return canReportCancelled(state)
        ? { ...state, step: 'failed', reason: 'superseded', detail: null, landed: null }
        : state
  }
}

/** Whether a wallet may still send it, or has. */
export function mayBeSent(state: PaymentState): boolean {
  return mayHaveLeft(state) || state.step === 'awaiting_wallet'
}

/** Whether the payment's bytes may be outside this browser: from here on only the chain decides. */
export function mayHaveLeft(
  state: PaymentState,
): state is Exclude<Extract<PaymentState, { sent: Sent }>, { step: 'signed' }> {
  return 'sent' in state && state.step !== 'signed'
}

/**
 * I1. True if no byte can have left, or if the chain proved that what left can never land or did
 * not pay.
 */
export function canRebuild(state: PaymentState): boolean {
  switch (state.step) {
    case 'review':
    case 'rejected':
    case 'expired_unsigned':
      return true
    case 'failed':
      return state.reason !== 'other'
    default:
      return false
  }
}

/**
 * Whether the wallet may be asked once more with the very bytes of a request whose answer was lost.
 * Safe only where the wallet declared, before the first request, that it keeps the nonce: then both
 * requests have one nonce, and the chain executes at most one. A wallet that chooses the nonce, as
 * several do, could pay twice.
 */
export function canRepeatRequest(
  state: PaymentState,
): state is Extract<PaymentState, { step: 'unknown' }> {
  return (
    state.step === 'unknown' &&
    state.reason === 'wallet_lost' &&
    state.keepsNonce &&
    state.built.nonce !== null &&
    walletSends(state.order)
  )
}

/** Whether only the payer can tell what became of it: no node has it, and its nonce is not known. */
export function canReportCancelled(
  state: PaymentState,
): state is Extract<PaymentState, { step: 'unknown' }> {
  return state.step === 'unknown' && state.reason === 'nonce_taken'
}

/**
 * A request to a wallet that only signs can be abandoned; a wallet that sends by itself may still
 * do so.
 */
export function canCancel(state: PaymentState): boolean {
  if (state.step === 'awaiting_wallet') return !walletSends(state.order)
  return (
    state.step === 'draft' ||
    state.step === 'building' ||
    state.step === 'review' ||
    state.step === 'rejected' ||
    state.step === 'expired_unsigned'
  )
}

export function isTerminal(state: PaymentState): boolean {
  return state.step === 'finalized' || state.step === 'failed' || state.step === 'cancelled'
}

/** I4. Our own RPC showed the equal transfer at `confirmed` or better. */
export function isPaid(state: PaymentState): boolean {
  return state.step === 'confirmed' || state.step === 'finalized'
}

/**
 * Where the payment is on the chain now; null before it is in a block, and after a reorg dropped
 * that block.
 */
export function standingOf(state: PaymentState): LandedPayment | null {
  return 'landed' in state && state.step !== 'rolled_back' ? state.landed : null
}

/** What a wallet says it sent; with its nonce, where the wallet declared that it keeps the one it is asked with. */
export function sentBy(
  { built: { nonce }, keepsNonce }: { built: CheckedTransaction; keepsNonce: boolean },
  signature: string,
): Sent {
  return { bytes: null, signature, ...(keepsNonce && nonce !== null && { nonce }) }
}

/** Whether the wallet that signs also sends. */
function walletSends(order: WalletPaymentIntent): boolean {
  return familyOf(order.network) === 'evm' && !order.signedOnly
}

function base(state: PaymentState): Base {
  return { order: state.order, attempt: state.attempt }
}

function broadcast(
  state: Extract<PaymentState, { built: CheckedTransaction }>,
  sent: Sent,
  since: number,
): PaymentState {
  return { ...base(state), step: 'broadcast', built: state.built, sent, since }
}

function refuse(state: PaymentState, userError: UserError): PaymentState {
  const requested =
    state.step === 'awaiting_wallet' || state.step === 'review' || state.step === 'rejected'
  return requested
    ? { ...base(state), step: 'rejected', built: state.built, review: state.review, userError }
    : state
}

/** The wallet's port emits `signer_changed` before it asks the wallet, so it also ends a wait. */
function expire(state: PaymentState, reason: 'deadline' | 'signer_changed'): PaymentState {
  const unsent =
    state.step === 'review' ||
    state.step === 'rejected' ||
    state.step === 'signed' ||
    (state.step === 'awaiting_wallet' && reason === 'signer_changed')
  return unsent ? { ...base(state), step: 'expired_unsigned', reason } : state
}

/**
 * I6: the digest on screen must equal the digest of the bytes, every warning must be ticked,
 * nothing critical, and the simulation finished.
 */
function sign(state: PaymentState, event: Extract<PaymentInput, { type: 'sign' }>): PaymentState {
  if (state.step !== 'review' && state.step !== 'rejected') return state
  const { built, review } = state
  if (
    event.digest !== built.digest ||
    review.simulation.state === 'running' ||
    verdictOf(review) === 'blocked'
  )
    return state
  const unticked = review.findings.some(
    (finding) => finding.severity === 'warn' && !event.ticked.includes(finding.code),
  )
  return unticked
    ? state
    : {
        ...base(state),
        step: 'awaiting_wallet',
        built,
        review,
        since: event.at,
        keepsNonce: event.keepsNonce,
      }
}

function blockReview(
  state: Extract<PaymentState, { step: 'awaiting_wallet' }>,
  finding: Finding,
): PaymentState {
  const review = {
    ...state.review,
    findings: [finding, ...state.review.findings],
    verdict: 'blocked' as const,
  }
  return { ...base(state), step: 'review', built: state.built, review }
}

/**
 * The wallet's answer will not come. A wallet that only signs cannot have sent anything; one that
 * sends by itself may have, or still may.
 */
function loseWallet(state: PaymentState): PaymentState {
  if (state.step !== 'awaiting_wallet') return state
  const { built, review } = state
  if (walletSends(state.order)) {
    return {
      ...base(state),
      step: 'unknown',
      reason: 'wallet_lost',
      built,
      sent: {
        bytes: null,
        signature: null,
        ...(state.keepsNonce && built.nonce !== null && { nonce: built.nonce }),
      },
      absentSince: null,
      keepsNonce: state.keepsNonce,
    }
  }
  return {
    ...base(state),
    step: 'rejected',
    built,
    review,
    userError: describeUserError('wallet_lost'),
  }
}

function read(state: OutgoingState, reading: Reading): PaymentState {
  if (isTerminal(state)) return state
  const next = moveOn(state, reading)
  const unavailable = reading.kind === 'unavailable'
  return 'sent' in next && (next.unavailable ?? false) !== unavailable
    ? { ...next, unavailable }
    : next
}

function moveOn(state: OutgoingState, reading: Reading): PaymentState {
  const sent = withNonce(state.sent, reading)
  const out = { ...base(state), built: state.built, sent }
  switch (reading.kind) {
    case 'unavailable':
      // An outage says nothing about the payment; after a while the person is told that we are
      // still looking for it.
      return state.step === 'broadcast' && reading.at - state.since >= UNSEEN_AFTER_MS
        ? { ...out, step: 'unknown', reason: 'not_seen', absentSince: null, keepsNonce: false }
        : state
    case 'pending':
      if (state.step === 'confirmed')
        return { ...out, step: 'rolled_back', landed: state.landed, absentSince: null }
      if (state.step === 'rolled_back')
        return sent === state.sent ? seenAgain(state, null) : { ...state, sent, absentSince: null }
      if (
        state.step === 'submitted' &&
        !state.landed &&
        sent === state.sent &&
        sent.signature === reading.signature
      )
        return state
      return {
        ...out,
        step: 'submitted',
        sent: { ...sent, signature: reading.signature },
        landed: null,
        outcome: null,
      }
    case 'superseded':
      if (reading.finalized && reading.guessed) return guessTaken(state, reading.at)
      if (reading.finalized)
        return { ...out, step: 'failed', reason: 'superseded', detail: reading.by, landed: null }
      return state.step === 'confirmed'
        ? { ...out, step: 'rolled_back', landed: state.landed, absentSince: null }
        : state
    case 'landed':
      return land(state, reading)
    case 'absent':
      return miss(state, reading)
  }
}

/** No node shows it, and its nonce may be taken: told to the payer once that has been so for a while. */
function guessTaken(state: OutgoingState, at: number): PaymentState {
  const out = { ...base(state), built: state.built, sent: state.sent }
  if (state.step === 'confirmed')
    return { ...out, step: 'rolled_back', landed: state.landed, absentSince: null }
  if (state.step === 'broadcast' && at - state.since < UNSEEN_AFTER_MS) return state
  if (state.step !== 'unknown')
    return { ...out, step: 'unknown', reason: 'not_seen', absentSince: at, keepsNonce: false }
  const since = state.absentSince ?? at
  return state.reason !== 'nonce_taken' && at - since >= UNSEEN_AFTER_MS
    ? { ...state, reason: 'nonce_taken', absentSince: since, keepsNonce: false }
    : seenAgain(state, since)
}

/** With the nonce that a node has shown; the same object where nothing is new. */
function withNonce(sent: Sent, reading: Reading): Sent {
  if (reading.kind !== 'pending' && reading.kind !== 'landed') return sent
  return reading.nonce === undefined || reading.nonce === sent.nonce
    ? sent
    : { ...sent, nonce: reading.nonce }
}

function land(state: OutgoingState, reading: Extract<Reading, { kind: 'landed' }>): PaymentState {
  const { landed, outcome, commitment } = reading
  const out = {
    ...base(state),
    built: state.built,
    sent: { ...withNonce(state.sent, reading), signature: landed.signature },
  }
  if (commitment === 'processed') {
    if (state.step === 'rolled_back') return { ...state, ...out }
    if (state.step !== 'confirmed') return { ...out, step: 'submitted', landed, outcome }
    return state.landed.blockHash === landed.blockHash
      ? state
      : { ...out, step: 'rolled_back', landed: state.landed, absentSince: null }
  }
  if (outcome === 'paid') return { ...out, step: commitment, landed }
  // A transaction that failed at `confirmed` could still be replaced by a fork in which it pays:
  // only finality allows another attempt.
  if (commitment === 'finalized')
    return { ...out, step: 'failed', reason: outcome, detail: reading.failure, landed }
  return { ...out, step: 'submitted', landed, outcome }
}

/**
 * I1 on Solana: absent twice, at least 10 s apart, with the finalized height above the last valid
 * one both times. The same for a message: unused after its expiry both times.
 */
function miss(state: OutgoingState, reading: Extract<Reading, { kind: 'absent' }>): PaymentState {
  const out = { ...base(state), built: state.built, sent: state.sent }
  const over =
    reading.over ??
    (familyOf(state.order.network) === 'solana' &&
      reading.finalizedHeight > state.built.lastValidBlockHeight)
  const since = state.step === 'unknown' || state.step === 'rolled_back' ? state.absentSince : null
  if (over && since !== null && reading.at - since >= ABSENCE_GAP_MS)
    return { ...out, step: 'failed', reason: 'expired', detail: null, landed: null }
  const absentSince = over ? (since ?? reading.at) : null
  if (state.step === 'unknown' || state.step === 'rolled_back') return seenAgain(state, absentSince)
  if (state.step === 'confirmed')
    return { ...out, step: 'rolled_back', landed: state.landed, absentSince }
  const unseen =
    state.step === 'submitted' ||
    (state.step === 'broadcast' && reading.at - state.since >= UNSEEN_AFTER_MS)
  return over || unseen
    ? { ...out, step: 'unknown', reason: 'not_seen', absentSince, keepsNonce: false }
    : state
}

/** Returns the same state if nothing changed: every new state is written to the journal. */
function seenAgain<S extends Extract<PaymentState, { absentSince: number | null }>>(
  state: S,
  absentSince: number | null,
): S {
  return state.absentSince === absentSince ? state : { ...state, absentSince }
}
