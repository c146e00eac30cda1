import { t } from '@lingui/core/macro'
import { familyOf } from '#contract/network.ts'
import { describeUserError } from '../errors/error-messages.ts'
import {
  needsWallet,
  type Reading,
  type Sent,
  type UnnamedTransaction,
  type WalletPaymentIntent,
} from '../payment-intent/intent.ts'
import type { PaymentChain, Clock } from '../payment-intent/ports.ts'
import { buildForReview, readTwin, simulatePayment } from './build.ts'
import type { Ports } from './dependencies.ts'
import { JournalConflictError, journalEntry, readOwner, type JournalEntry } from './journal.ts'
import { paymentLock, TAKING_LOCK, walletLock } from './lock.ts'
import {
  canRepeatRequest,
  canReportCancelled,
  mayBeSent,
  mayHaveLeft,
  reduce,
  sentBy,
  startPayment,
  type OutgoingState,
  type PaymentInput,
  type PaymentState,
  isTerminal,
} from './machine.ts'

/** What polling needs of a run: its present state, and the way to move it on. */
export type MonitoredPayment = {
  state(): PaymentState
  /** Reads the chain once and moves the payment on by it; never throws. */
  readChain(state: OutgoingState): Promise<void>
  /** Tells the service once, beside all else; never throws. */
  report(): void
  signal: AbortSignal
}

export const POLL_EVERY_MS = 2_000
/** After this long without an outcome the chain is polled less often. */
const PATIENT_AFTER_MS = 120_000
const PATIENT_EVERY_MS = 10_000

/**
 * Polls the chain for a payment whose bytes may have left, until its outcome is settled: sends the same bytes again, reads the chain
 * through the user's RPC, and lets the machine decide. The first poll after a reload and the hundredth are the same.
 */
async function pollPayment(
  monitored: MonitoredPayment,
  chain: PaymentChain,
  clock: Clock,
): Promise<void> {
  const startedAt = clock.now()
  while (!monitored.signal.aborted) {
    const state = monitored.state()
    if (!mayHaveLeft(state) || isTerminal(state)) return
    if (state.sent.bytes && state.step !== 'confirmed') await sendAgain(chain, state)
    await monitored.readChain(state)
    if (monitored.signal.aborted) return
    monitored.report()
    if (isTerminal(monitored.state())) return
    await clock.sleep(
      clock.now() - startedAt > PATIENT_AFTER_MS ? PATIENT_EVERY_MS : POLL_EVERY_MS,
      monitored.signal,
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

/** With less time than this left, signing is not offered: a person could not finish in time. */
export const SIGN_MARGIN_MS = 10_000
const KEEP_TRIES = 5
const REPORT_GAPS_MS = [0, 5_000, 15_000, 45_000, 120_000]

/**
 * One payment that this tab owns: executes what the machine's states require, through ports. Every
 * transition is written to the journal before the side effect that it allows, so a tab can die at
 * any point.
 */
export class PaymentRun {
  readonly #ports: Ports
  readonly #listeners = new Set<() => void>()
  readonly #stop = new AbortController()
  #state: PaymentState
  #entry: JournalEntry | undefined
  #writing: Promise<void> = Promise.resolve()
  #working: Promise<unknown> = Promise.resolve()
  #polling: Promise<void> | undefined
  #reporting: Promise<void> | undefined
  #releasing: Promise<void> | undefined
  #locked: Promise<boolean> | undefined
  #reports = 0
  #nextReportAt = 0

  constructor(ports: Ports, order: WalletPaymentIntent, entry?: JournalEntry) {
    this.#ports = ports
    this.#state = entry?.state ?? startPayment(order)
    this.#entry = entry
  }

  readonly state = (): PaymentState => this.#state

  readonly subscribe = (on: () => void): (() => void) => {
    this.#listeners.add(on)
    return () => void this.#listeners.delete(on)
  }

  /** From `draft`: asks the service for the transaction, decodes it and simulates it. */
  build(): Promise<void> {
    return this.#work(async () => {
      await this.#dispatch({ type: 'build' })
      await this.#build()
    })
  }

  /** A new attempt of the same order, where I1 allows one. */
  rebuild(): Promise<void> {
    return this.#work(async () => {
      await this.#dispatch({ type: 'rebuild' })
      await this.#build()
    })
  }

  /**
   * Asks the wallet. `ticked`: codes of the warnings that the payer accepted. I7: refused while
   * another tab has a request open in this wallet.
   */
  sign(ticked: readonly string[]): Promise<void> {
    return this.#work(async () => {
      const { order } = this.#state
      const lock = walletLock(familyOf(order.network), order.walletName)
      const { acquired } = await this.#ports.locks.attempt(lock, () => this.#sign(ticked))
      if (!acquired)
        await this.#dispatch({
          type: 'wallet_refused',
          userError: describeUserError('wallet_busy', order.walletName),
        })
    })
  }

  /**
   * Asks the wallet once more with the same bytes after its answer was lost. The payment stays
   * `unknown` unless the wallet says that it sent: a refusal says nothing about the first request.
   * @returns whether the wallet sent it
   */
  async repeatRequest(): Promise<boolean> {
    let sent = false
    await this.#work(async () => {
      const { order } = this.#state
      const lock = walletLock(familyOf(order.network), order.walletName)
      await this.#ports.locks.attempt(lock, async () => {
        sent = await this.#repeatRequest()
      })
    })
    return sent
  }

  async cancel(): Promise<void> {
    await this.#dispatch({ type: 'cancel' })
    await this.#releasing
  }

  /** The service names what a wallet sent that read the code. From here on the chain decides. */
  codePaid(signature: string): Promise<void> {
    return this.#work(async () => {
      await this.#dispatch({ type: 'code_paid', at: this.#ports.clock.now(), signature })
      this.#startPolling()
    })
  }

  /** The payer's word, where the chain has none at this moment: the wallet cancelled what it sent. */
  async reportCancelled(): Promise<void> {
    await this.#work(async () => {
      const state = this.#state
      if (!canReportCancelled(state)) return
      const reading = await this.#readChain(state)
      if (reading.kind === 'superseded' && reading.finalized && reading.guessed)
        await this.#dispatch({ type: 'cancelled_in_wallet' })
    })
  }

  /** Called by a timer: ends a review whose deadline has passed. */
  async checkDeadline(): Promise<void> {
    const state = this.#state
    if (state.step !== 'review' && state.step !== 'rejected') return
    if (this.#ports.clock.now() >= state.built.deadlineAt)
      await this.#dispatch({ type: 'deadline_passed' })
  }

  /** Milliseconds of the service's clock until the deadline of a review. */
  remainingMs(): number {
    return 'built' in this.#state ? this.#state.built.deadlineAt - this.#ports.clock.now() : 0
  }

  /** Stops all work in this tab; the journal keeps the payment. */
  close(): void {
    this.#stop.abort()
  }

  /** Resolves when nothing of this payment is running in this tab. */
  async idle(): Promise<void> {
    await this.#working.catch(() => undefined)
    await this.#polling
    await this.#reporting
  }

  /**
   * Resumes a payment after a reload, a closed tab or a lost connection; false while another tab
   * holds it. A wallet request that was open is lost; signed bytes are sent unchanged.
   */
  async resume(): Promise<boolean> {
    if (!(await this.#lock())) return false
    const stored = await this.#ports.journal.read(this.#state.order.id)
    if (stored) this.#setState(stored, stored.state)
    if (this.#state.step === 'awaiting_wallet') await this.#dispatch({ type: 'wallet_lost' })
    if (this.#state.step === 'review' && this.#state.review.simulation.state === 'running')
      void this.#work(() => this.#simulate())
    if (this.#state.step === 'building') void this.#work(() => this.#build())
    if (this.#state.step === 'signed') void this.#work(() => this.#send())
    this.#startPolling()
    return true
  }

  async #build(): Promise<void> {
    const state = this.#state
    if (state.step !== 'building') return
    await this.#releasing
    const userError = needsWallet(state.order)
      ? ((await this.#ports.wallet.prepare?.(state.order)) ?? null)
      : null
    if (this.#state !== state) return
    const event: PaymentInput = userError
      ? { type: 'build_failed', userError }
      : await buildForReview(this.#ports, state)
    if (this.#state === state) await this.#dispatch(event)
    else if (event.type === 'built') this.#release(state.order, event.built.paymentId)
    await this.#simulate()
  }

  async #simulate(): Promise<void> {
    const state = this.#state
    if (state.step !== 'review') return
    const review = await simulatePayment(this.#ports, state)
    if ('built' in this.#state && this.#state.built === state.built)
      await this.#dispatch({ type: 'simulated', review })
  }

  async #sign(ticked: readonly string[]): Promise<void> {
    const { clock, wallet } = this.#ports
    const current = this.#state
    if (current.step !== 'review' && current.step !== 'rejected') return
    if (clock.now() > current.built.deadlineAt - SIGN_MARGIN_MS)
      return this.#dispatch({ type: 'deadline_passed' })
    const signer = await wallet.signer(current.order)
    if (signer === null)
      return this.#dispatch({
        type: 'wallet_refused',
        userError: describeUserError('not_connected', current.order.walletName),
      })
    if (signer !== current.order.sender) return this.#dispatch({ type: 'signer_changed' })
    // Under the wallet's lock: another tab may have paid the same since this review was built.
    const review = await readTwin(this.#ports, current)
    if (review !== current.review) return this.#dispatch({ type: 'warned', review })
    const breach = await this.#ports.breachOf?.(current.order)
    if (breach !== undefined) {
      const userError = { ...describeUserError('not_signed'), title: breach, code: 'OVER_LIMIT' }
      return this.#dispatch({ type: 'wallet_refused', userError })
    }
    // Read before the request: what a wallet declares later says nothing about this one.
    const keepsNonce = (await wallet.keepsNonce?.(current.order)) ?? false
    const { digest } = current.built
    await this.#dispatch({ type: 'sign', at: clock.now(), digest, ticked, keepsNonce })
    const waiting = this.#state
    if (waiting.step !== 'awaiting_wallet') return
    const answer = await wallet.pay(waiting.order, waiting.built)
    // Cancelled, or the tab is closing: a signature that arrives now is dropped and never
    // broadcast.
    if (this.#state !== waiting || this.#stop.signal.aborted) return
    if (answer.kind === 'refused')
      return this.#dispatch({ type: 'wallet_refused', userError: answer.userError })
    if (answer.kind === 'signer_changed') return this.#dispatch({ type: 'signer_changed' })
    if (answer.kind === 'signed') return this.#signed(waiting, answer.bytes)
    if (answer.kind === 'lost') await this.#dispatch({ type: 'wallet_lost' })
    else await this.#keepSent(waiting, sentBy(waiting, answer.signature))
    this.#startPolling()
  }

  /** The hash is in the wallet's answer alone: a write that fails is tried again. */
  async #keepSent(waiting: PaymentState, sent: Sent): Promise<void> {
    const { clock } = this.#ports
    const event = { type: 'wallet_sent', at: clock.now(), sent } as const
    for (let tries = 1; ; tries++)
      try {
        return await this.#dispatch(event)
      } catch (error) {
        if (tries === KEEP_TRIES || this.#state !== waiting || this.#stop.signal.aborted)
          throw error
        await clock.sleep(1_000, this.#stop.signal)
      }
  }

  async #repeatRequest(): Promise<boolean> {
    const { clock, wallet } = this.#ports
    const current = this.#state
    if (!canRepeatRequest(current)) return false
    const { order, built } = current
    // The wallet may be another one by now, with the same account, that chooses nonces itself.
    if ((await wallet.signer(order)) !== order.sender || !(await wallet.keepsNonce?.(order)))
      return false
    const reading = await this.#readChain(current)
    if (reading.kind !== 'absent' || reading.over || !canRepeatRequest(this.#state)) return false
    const answer = await wallet.pay(order, built)
    if (answer.kind !== 'sent' || this.#stop.signal.aborted) return false
    const sent = sentBy(current, answer.signature)
    await this.#dispatch({ type: 'wallet_sent', at: clock.now(), sent })
    return true
  }

  /**
   * I6: the signed bytes are compared by meaning with what was shown; a different meaning is
   * rejected.
   */
  async #signed(
    waiting: Extract<PaymentState, { step: 'awaiting_wallet' }>,
    bytes: Uint8Array,
  ): Promise<void> {
    const same = this.#ports.reader.compareSigned(waiting.order, waiting.built, bytes)
    if (!same.ok) {
      const { walletName } = waiting.order
      const { difference } = same
      const text = t`${walletName} changed it: ${difference} Nothing was sent.`
      return this.#dispatch({
        type: 'signed_other',
        finding: { code: 'SIGNED_OTHER', severity: 'critical', text },
      })
    }
    const { nonce } = waiting.built
    const sent = { bytes, signature: same.signature, ...(nonce !== null && { nonce }) }
    await this.#dispatch({ type: 'signed', sent })
    await this.#send()
  }

  /**
   * The first broadcast: only up to the last valid block height of the bytes, and only once the
   * journal says they may have left.
   */
  async #send(): Promise<void> {
    const { chain, clock } = this.#ports
    while (this.#state.step === 'signed' && !this.#stop.signal.aborted) {
      const { order, built } = this.#state
      const head = await chain.head(order).catch(() => undefined)
      if (head && head.height > built.lastValidBlockHeight)
        return this.#dispatch({ type: 'deadline_passed' })
      if (head) await this.#dispatch({ type: 'send', at: clock.now() })
      else await clock.sleep(2_000, this.#stop.signal)
    }
    this.#startPolling()
  }

  #startPolling(): void {
    if (this.#polling || !mayHaveLeft(this.#state)) return
    const monitored = {
      state: this.state,
      // What the journal cannot keep now is read again: a payment is never given up for that.
      readChain: (state: OutgoingState) =>
        this.#readChain(state).then(
          () => undefined,
          () => undefined,
        ),
      report: () => this.#report(),
      signal: this.#stop.signal,
    }
    this.#polling = pollPayment(monitored, this.#ports.chain, this.#ports.clock).finally(
      () => (this.#polling = undefined),
    )
  }

  /** Reads the chain and moves on by it. A transaction that the wallet did not name is taken by one payment of this browser. */
  async #readChain({ order, built, sent }: OutgoingState): Promise<Reading> {
    const { chain, clock, journal, locks, otherJournals = [] } = this.#ports
    const ownerOf = (found: UnnamedTransaction) =>
      readOwner([journal, ...otherJournals], { order, sent }, { ...found, now: clock.now() })
    const reading = await chain.read(order, built, { ...sent, ownerOf })
    if (this.#stop.signal.aborted) return reading
    const take = () => this.#dispatch({ type: 'read', reading })
    const signature = reading.kind === 'landed' ? reading.landed.signature : sent.signature
    const nonce = reading.kind === 'landed' ? reading.nonce : undefined
    if (signature === null || signature === sent.signature || nonce === undefined) await take()
    // Another payment that looks at this moment may take it first: the next look tells.
    else
      await locks.attempt(TAKING_LOCK, async () => {
        if ((await ownerOf({ signature, nonce })) === 'free') await take()
      })
    return reading
  }

  /** The chain is polled meanwhile: a service that does not answer delays no payment. */
  #report(): void {
    const state = this.#state
    if (this.#reporting || !mayHaveLeft(state) || !state.sent.signature || this.#entry?.reported)
      return
    if (this.#reports >= REPORT_GAPS_MS.length || this.#ports.clock.now() < this.#nextReportAt)
      return
    this.#reporting = this.#sendReport(state, state.sent.signature).finally(
      () => (this.#reporting = undefined),
    )
  }

  async #sendReport({ attempt, built }: OutgoingState, signature: string): Promise<void> {
    const now = this.#ports.clock.now()
    try {
      await this.#ports.service.report(built.paymentId, signature)
      // A later attempt must report its own signature.
      await this.#turn(async () => {
        if (this.#state.attempt === attempt) await this.#write(this.#state, true)
      })
    } catch {
      // The service finds the payment on the chain by itself; the report only speeds that up.
      this.#reports++
      this.#nextReportAt = now + (REPORT_GAPS_MS[this.#reports] ?? 0)
    }
  }

  async #work(task: () => Promise<void>): Promise<void> {
    if (!(await this.#lock())) return
    const done = this.#working.catch(() => undefined).then(task)
    this.#working = done
    return done
  }

  /** Only one tab at a time advances a payment: the lock is held until the tab closes the run. */
  #lock(): Promise<boolean> {
    this.#locked ??= new Promise((resolve) => {
      const untilClosed = () =>
        new Promise<void>((release) => {
          this.#stop.signal.addEventListener('abort', () => void this.idle().then(release))
          resolve(true)
        })
      this.#ports.locks.attempt(paymentLock(this.#state.order.id), untilClosed).then(
        ({ acquired: had }) => had || resolve(false),
        () => resolve(false),
      )
    })
    return this.#locked
  }

  #dispatch(event: PaymentInput): Promise<void> {
    return this.#turn(async () => {
      const before = this.#state
      const next = reduce(before, event)
      if (next === before) return
      await this.#write(next, false)
      if ('built' in before && !('built' in next) && !mayBeSent(before))
        this.#release(before.order, before.built.paymentId)
    })
  }

  /** A refund on EVM holds its amount until the service is told that no wallet can send it. Where only a person knows that, they say it with the button. */
  #release(order: WalletPaymentIntent, paymentId: string): void {
    if (order.refundOf !== undefined && familyOf(order.network) === 'evm')
      this.#releasing = this.#ports.service.release?.(order, paymentId).catch(() => undefined)
  }

  /** Transitions run one after another: each starts from the state that the previous one left. */
  #turn(move: () => Promise<void>): Promise<void> {
    const turn = this.#writing.then(move)
    this.#writing = turn.catch(() => undefined)
    return turn
  }

  async #write(next: PaymentState, reported: boolean): Promise<void> {
    const { journal, clock, locks } = this.#ports
    const entry = journalEntry(this.#entry, next, clock.now())
    if (reported) entry.reported = true
    try {
      await journal.write(entry)
    } catch (error) {
      // A tab that is gone may have written last: its entry is the payment's current state.
      const stored =
        error instanceof JournalConflictError ? await journal.read(entry.id) : undefined
      if (stored) {
        this.#setState(stored, stored.state)
        this.#startPolling()
      }
      throw error
    }
    this.#setState(entry, next)
    locks.announce(entry.id)
  }

  #setState(entry: JournalEntry, state: PaymentState): void {
    this.#entry = entry
    this.#state = state
    for (const on of this.#listeners) on()
  }
}
