import * as v from 'valibot'
import { parseJson } from '#contract/json.ts'
import { isPaid } from '#contract/payment.ts'
import { ProofCheck } from '#contract/proof.ts'
import type { Chain, Observation, Transfer } from '../chains/chain.ts'
import type { Context } from '../context.ts'
import { grantOnce, releaseClaim, type ClaimRecord, type HeldClaim } from '../db/claims.ts'
import { findPayment, type PaymentRecord } from '../db/payments.ts'
import { applyObservation } from '../payments/apply-observation.ts'
import { chainOf } from '../payments/network.ts'
import { wakeWatcher } from '../watchers/wake.ts'
import { undecided, type Checklist } from './checklist.ts'
import { Late, type Deadline } from './deadline.ts'
import { messageKey } from './examine-native-transfer.ts'
import { hold } from './hold.ts'
import { judge, judgeMemo, judgeTransfer, type Judged } from './judge.ts'
import { recordBroadcast, recordLanded } from './record.ts'
import { isCertain, watch } from './watch.ts'

export type Job = Judged & {
  fingerprint: string
  deadline: Deadline
  /** Another party that is asked before the chain, once the proof is held; it throws when it does not agree. */
  ask?: () => Promise<void>
}

export type Settled = {
  state: 'paid' | 'pending'
  /** Null while nothing is recorded: the payer's own transaction has not landed yet. */
  payment: PaymentRecord | null
  /** Whether an earlier call was told already that this payment is there. */
  alreadyProcessed: boolean
  checks: readonly ProofCheck[]
}

/**
 * Brings an examined proof to its outcome: held for this attempt, seen on the chain (broadcast before, where that is ours to do), used up and recorded.
 * @throws ProofRefused when it is proven bad; `PAYMENT_VERIFICATION_FAILED`, `CHAIN_UNAVAILABLE` when nothing is decided
 */
export async function settle(context: Context, job: Job): Promise<Settled> {
  const settled = await bringToOutcome(context, job)
  if (settled.state === 'pending' || !settled.payment) return settled
  return { ...settled, alreadyProcessed: !(await grantOnce(context.db, settled.payment.id)) }
}

async function bringToOutcome(context: Context, job: Job): Promise<Settled> {
  const { network } = job.terms.network
  const chain = chainOf(context, network)
  const { key } = job.examined
  if (key !== null)
    return holding(context, job, {
      key,
      work: (held) => (job.examined.bytes ? settleSigned(context, job, { chain, held }) : settleSeen(context, job, { chain, held })),
    })

  const seen = await look(chain, job)
  if (!isCertain(seen)) return pending(job)
  if (seen.transfer === null) judgeTransfer(job, null)
  // A transaction that can be signed twice is single by its message.
  if (seen.messageHash === undefined) throw undecided('The network does not show the message of this transaction. Nothing is decided.')
  return holding(context, job, { key: messageKey(seen.messageHash), work: async (held) => finish(context, job, { seen, held }) })
}

type Held = { chain: Chain; held: HeldClaim }

async function holding(context: Context, job: Job, { key, work }: { key: string; work: (held: HeldClaim) => Promise<Settled> }): Promise<Settled> {
  const { accountId, fingerprint, deadline, checklist } = job
  const answer = await hold(context, { network: job.terms.network.network, key, accountId, fingerprint, deadline, checklist })
  if ('used' in answer) return repeat(context, job, answer.used)
  try {
    await job.ask?.()
    return await work(answer.held)
  } finally {
    // What was used up stays so; everything else is free again.
    await releaseClaim(context.db, answer.held)
  }
}

/** The payer has broadcast; the chain decides. */
async function settleSeen(context: Context, job: Job, { chain, held }: Held): Promise<Settled> {
  const seen = await look(chain, job)
  return isCertain(seen) ? finish(context, job, { seen, held }) : pending(job)
}

/** The payer has signed; the service broadcasts what is recorded, never before. */
async function settleSigned(context: Context, job: Job, { chain, held }: Held): Promise<Settled> {
  const { examined, deadline, checklist } = job
  const known = await look(chain, job, () => true)
  if (isCertain(known)) return finish(context, job, { seen: known, held })
  await judgeMemo(context, job, examined.memo)
  if (known.state === 'not_found') {
    const rehearsal = await orUndecided(deadline.within(chain.rehearse(bytesOf(job))))
    const got = rehearsal.ok ? 'accepted' : rehearsal.reason
    checklist.check('simulation_failed', { name: 'simulation', source: 'chain', ok: rehearsal.ok, expected: 'accepted', got })
  }
  const head = await orUndecided(deadline.within(chain.head()))
  const limits = { builtHeight: head.height, lastValidBlockHeight: head.blockHeight + LIFETIME_BLOCKS }
  const payment = await recordBroadcast(context, { ...job, held, transfer: transferOf(job) }, limits)
  return follow(context, job, { chain, payment, bytes: bytesOf(job) })
}

/** No blockhash is younger than now or lives longer; a nonce has no such end, and counts as ours for as long. */
const LIFETIME_BLOCKS = 150

function bytesOf({ examined }: Job): Uint8Array {
  if (!examined.bytes) throw new TypeError('Expected a transaction to broadcast.')
  return examined.bytes
}

/** What the signed bytes say, which the examination has held against the terms. */
function transferOf({ terms, examined }: Job): Transfer {
  const { payTo, asset, amountAtomic } = terms
  return { sender: examined.payer ?? '', recipient: payTo, asset: asset.address, amountAtomic, memo: examined.memo, nonce: examined.nonce ?? null }
}

/** Broadcasts what is recorded and waits for the chain; the watcher goes on when this call has ended. */
async function follow(context: Context, job: Job, { chain, payment, bytes }: { chain: Chain; payment: PaymentRecord; bytes: Uint8Array }): Promise<Settled> {
  const { deadline, examined, checklist } = job
  const sent = await lateOr(deadline.within(chain.broadcast(bytes)))
  if (sent && !sent.accepted)
    context.log.warn({ paymentId: payment.id, network: payment.network, reason: sent.reason }, 'a node did not take a transaction; it is sent again')
  wakeWatcher(chain)
  const seen = await watch(chain, { signature: examined.signature, deadline })
  if (seen && isCertain(seen)) await applyObservation(context, { paymentId: payment.id, signature: examined.signature, observation: seen, source: 'service' })
  return outcome(job, (await findPayment(context.db, payment.id)) ?? payment, { alreadyProcessed: false, checks: checklist.checks })
}

async function finish(context: Context, job: Job, { seen, held }: { seen: Extract<Observation, { state: 'landed' }>; held: HeldClaim }): Promise<Settled> {
  const transfer = await judge(context, job, seen)
  const payment = await recordLanded(context, { ...job, held, transfer }, seen)
  return { state: 'paid', payment, alreadyProcessed: false, checks: job.checklist.checks }
}

/** The same question again gets the answer of the first, as the payment stands now. */
async function repeat(context: Context, job: Job, claim: ClaimRecord): Promise<Settled> {
  const payment = claim.paymentId === null ? undefined : await findPayment(context.db, claim.paymentId)
  if (!payment) throw new Error(`The used claim ${claim.key} has no payment.`)
  const checks = v.parse(v.array(ProofCheck), parseJson(claim.checks ?? '[]'))
  const told = { alreadyProcessed: true, checks }
  if (payment.status !== 'pending' || claim.transaction === null) return outcome(job, payment, told)
  const followed = await follow(context, job, { chain: chainOf(context, payment.network), payment, bytes: Buffer.from(claim.transaction, 'base64') })
  return { ...followed, ...told }
}

function outcome({ checklist }: { checklist: Checklist }, payment: PaymentRecord, told: Pick<Settled, 'alreadyProcessed' | 'checks'>): Settled {
  const over = payment.status === 'failed' || payment.status === 'expired'
  if (over)
    checklist.check('transaction_failed', {
      name: 'transaction',
      source: 'chain',
      ok: false,
      expected: 'landed and succeeded',
      got: payment.failure ?? payment.status,
    })
  return { state: isPaid(payment.status) ? 'paid' : 'pending', payment, ...told }
}

function pending({ checklist }: Job): Settled {
  return { state: 'pending', payment: null, alreadyProcessed: false, checks: checklist.checks }
}

/** @throws `PAYMENT_VERIFICATION_FAILED` when no node has answered in time; ProofRefused when the pool shows another payment already */
async function look(chain: Chain, job: Job, stop?: () => boolean): Promise<Observation> {
  const { deadline, examined } = job
  const seen = await watch(chain, { signature: examined.signature, deadline, stop: (observation) => stop?.() ?? contradicts(job, observation) })
  if (!seen) throw undecided('The network did not answer in time. Nothing is decided.')
  if (contradicts(job, seen) && seen.state === 'pending') judgeTransfer(job, seen.transfer ?? null)
  return seen
}

/** Whether a transaction in the pool already shows that it is not this payment. */
function contradicts({ examined }: Job, observation: Observation): boolean {
  return (
    observation.state === 'pending' &&
    observation.transfer !== undefined &&
    (observation.transfer === null || (examined.payer !== null && observation.transfer.sender !== examined.payer))
  )
}

async function orUndecided<T>(work: Promise<T>): Promise<T> {
  const answer = await lateOr(work)
  if (answer === undefined) throw undecided('The network did not answer in time. Nothing is decided.')
  return answer
}

async function lateOr<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Late) return undefined
    throw error
  }
}
