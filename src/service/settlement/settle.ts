import * as v from 'valibot'
import { fact, type CheckFact } from '#contract/facts.ts'
import { parseJson } from '#contract/json.ts'
import { familyOf } from '#contract/network.ts'
import { ProofCheck } from '#contract/proof.ts'
import type { VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { coSign } from '../wallets/sign.ts'
import {
  type Chain,
  type Observation,
  type ObservedTransfer,
  notifyMonitor,
} from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import {
  findBroadcast,
  findClaim,
  wasGranted,
  yieldGrant,
  type ClaimRecord,
  type OpenClaim,
} from '../db/claims.ts'
import { findPayment, type PaymentRecord } from '../db/payments.ts'
import { applyObservation } from '../payments/apply-observation.ts'
import { chainOf } from '../context/network.ts'
import { broadcastStored } from '../hosted/broadcast.ts'
import { GRANTED_OR_NOT, mayHaveBeenGranted, requireGranting } from '../reconciliation/affirm.ts'
import { monitorQuestion } from './monitor-self.ts'
import { checkSignature } from '../verification/check-authorization.ts'
import { ProofRefusedError, undecided } from '../verification/verification-report.ts'
import { facilitatorWallets, openFeePayer, feePayerFee } from './facilitator-wallet.ts'
import { claimTransfer, isGranted, withClaim } from './claim.ts'
import { persistSettlement } from './persist-settlement.ts'
import {
  validatePayment,
  validateMemo,
  validateTransfer,
  type LandedObservation,
} from '../verification/validate-transfer.ts'
import { verifyTokenOfficially } from '../verification/official-solana.ts'
import {
  orUndecided,
  outcome,
  ClaimSupersededError,
  pending,
  seenOr,
  type Job,
  type Settled,
} from './outcome.ts'
import { messageKey } from '../verification/read-signed.ts'
import { refuseBroadcast, refuseUnbound, simulateSigned } from '../verification/simulate-signed.ts'
import {
  beingSettled,
  recordBroadcast,
  recordLanded,
  type ValidityLimits,
  type OutgoingSettlement,
} from './record.ts'
import { monitorAuthorization, settleAuthorization } from './settle-authorization.ts'
import { isCertain, watch } from './watch.ts'

/**
 * Brings an verified proof to its outcome: held for this attempt, seen on the chain (broadcast
 * first, where that is our task), used up and recorded.
 * @throws ProofRefusedError when it is proven bad; `PAYMENT_VERIFICATION_FAILED`, `CHAIN_UNAVAILABLE`
 * when nothing is decided
 */
export async function settle(context: Context, job: Job): Promise<Settled> {
  const attempt = crypto.randomUUID()
  const affirmedHeight = await requireGranting(context, job.terms.network.network)
  const settled = await untilDecided(context, { ...job, attempt })
  if (!settled.payment) return settled
  const call = { paymentId: settled.payment.id, attempt }
  if (!settled.reportedBefore && mayHaveBeenGranted(settled.payment, affirmedHeight)) {
    await yieldGrant(context.db, call)
    throw undecided(GRANTED_OR_NOT)
  }
  if (settled.state === 'paid' && !job.caller?.gone)
    return { ...settled, alreadyProcessed: !(await isGranted(context, job, call)) }
  await yieldGrant(context.db, call)
  return { ...settled, state: 'pending' }
}

const POLL_MS = 100

/** Checks again when the payee was quicker, until its own settlement is certain. */
async function untilDecided(context: Context, job: Job): Promise<Settled> {
  const { checks } = job.report
  const before = checks.length
  for (;;) {
    try {
      return await bringToOutcome(context, job)
    } catch (error) {
      if (!(error instanceof ClaimSupersededError)) throw error
      if (job.deadline.passed)
        throw undecided(
          'The payment is on the chain, and not confirmed yet. Send the same request again.',
        )
      checks.length = before
      await job.deadline.sleep(POLL_MS)
    }
  }
}

async function bringToOutcome(context: Context, job: Job): Promise<Settled> {
  const chain = chainOf(context, job.terms.network.network)
  const { key, authorization, signature } = job.verifiedProof
  // A caller without a signature takes no slot from one that has signed.
  const verified =
    authorization &&
    (await orUndecided(
      job.deadline.within(
        checkSignature({ chain, terms: job.terms, authorization, report: job.report }),
      ),
    ))
  if (key !== null) {
    const question = {
      accountId: job.accountId,
      network: chain.network.network,
      key,
      fingerprint: job.fingerprint,
    }
    // The payee may have settled it alone, with the transaction built for that.
    await monitorQuestion(context, question)
    try {
      return await holding(context, job, {
        key,
        work: (lease) => settleClaimed(context, job, { chain, lease, verified }),
      })
    } catch (error) {
      // Or while this was under way: then what looks used is this very payment.
      const settled =
        error instanceof ProofRefusedError ? await monitorQuestion(context, question) : undefined
      if (!settled || settled.status === 'created') throw error
      const claim = await findClaim(context.db, { ...question, scope: job.claimant.scope })
      if (claim?.paymentId === settled.id) return repeat(context, job, claim)
      if (settled.status !== 'pending') throw error
      return {
        state: 'pending',
        payment: settled,
        alreadyProcessed: false,
        checks: job.report.checks.filter(({ ok }) => ok),
      }
    }
  }
  const seen = await look(chain, job, { signature: signatureOf(signature) })
  if (!isCertain(seen)) return pending(job)
  if (seen.transfer === null) validateTransfer(job, null)
  // A transaction that can be signed twice is identified by its message.
  if (seen.messageHash === undefined)
    throw undecided(
      'The network does not show the message of this transaction. Nothing is decided.',
    )
  return holding(context, job, {
    key: messageKey(seen.messageHash),
    work: async (lease) => {
      await settleRemotely(job)
      return finish(context, job, { seen, lease, signature: signatureOf(signature) })
    },
  })
}

async function settleClaimed(
  context: Context,
  job: Job,
  { chain, lease, verified }: ClaimedPayment & { verified?: VerifiedAuthorization },
): Promise<Settled> {
  const { bytes, signature } = job.verifiedProof
  if (verified) return settleAuthorization(context, job, { chain, lease, authorization: verified })
  const reported = await settleRemotely(job)
  if (bytes && !(job.remote && job.verifiedProof.feePayer))
    return settleSigned(context, job, { chain, lease, bytes })
  return settleSeen(context, job, { chain, lease, signature: signature ?? reported })
}

async function settleRemotely({ remote }: Job): Promise<string | null> {
  await remote?.verify()
  return (await remote?.settle()) ?? null
}

function signatureOf(signature: string | null): string {
  if (signature === null) throw undecided('Nobody says which transaction pays. Nothing is decided.')
  return signature
}

async function holding(
  context: Context,
  job: Job,
  { key, work }: { key: string; work: (lease: OpenClaim) => Promise<Settled> },
): Promise<Settled> {
  const { claimant, fingerprint, deadline, report, attempt } = job
  const answer = await claimTransfer(context, {
    network: job.terms.network.network,
    key,
    claimant,
    fingerprint,
    deadline,
    report,
    attempt,
  })
  if ('used' in answer) return repeat(context, job, answer.used)
  const { lease } = answer
  return withClaim(context, { lease, waits: () => !job.caller?.gone }, () => work(lease))
}

type ClaimedPayment = { chain: Chain; lease: OpenClaim }

/** Another party has broadcast; the chain decides, and what it shows must be what was signed. */
async function settleSeen(
  context: Context,
  job: Job,
  { chain, lease, signature: reported }: ClaimedPayment & { signature: string | null },
): Promise<Settled> {
  const signature = signatureOf(reported)
  const seen = await look(chain, job, { signature })
  if (!isCertain(seen)) return pending(job)
  if (job.verifiedProof.bytes) {
    const key = seen.messageHash === undefined ? null : messageKey(seen.messageHash)
    const got = key === null ? fact('unknown') : messageFact(key)
    job.report.check('transaction_failed', {
      name: 'message',
      source: 'chain',
      ok: key === lease.key,
      expected: messageFact(lease.key),
      got,
    })
  }
  return finish(context, job, { seen, lease, signature })
}

function messageFact(message: string): CheckFact {
  return { code: 'message', params: { message } }
}

/** The payer has signed; the service broadcasts only what is already recorded. */
async function settleSigned(
  context: Context,
  job: Job,
  { chain, lease, bytes }: ClaimedPayment & { bytes: Uint8Array },
): Promise<Settled> {
  const { verifiedProof, deadline } = job
  const { feePayer, signature: own } = verifiedProof
  // What our fee payer must sign cannot be on the chain without having been recorded, for this
  // account or another one.
  const sent = feePayer ? await findBroadcast(context.db, lease) : signatureOf(own)
  const { asset, memo } = job.terms
  const unbound = isPublicTransfer(job) || (!asset.native && memo === null)
  const once = { stop: () => true, twice: !feePayer && (unbound || job.keyless === true) }
  const known = sent === null ? null : await look(chain, job, { signature: sent, ...once })
  if (known && known.state !== 'not_found') {
    if (job.keyless || isPublicTransfer(job)) refuseBroadcast(job.report, known.state)
    refuseUnbound(job, known.state)
    if (sent !== null && isCertain(known))
      return finish(context, job, { seen: known, lease, signature: sent })
  }
  await validateMemo(context, job, verifiedProof.memo)
  if (known === null || known.state === 'not_found')
    await orUndecided(deadline.within(simulateSigned(job, chain, bytes)))
  // Signed again it is the same transaction, and each signature counts against the signer's caps.
  if (feePayer && sent !== null) throw beingSettled()
  const head = await orUndecided(deadline.within(chain.head()))
  const limits = {
    builtHeight: head.height,
    lastValidBlockHeight: head.blockHeight + LIFETIME_BLOCKS,
  }
  if (feePayer)
    return broadcastAndWatch(context, job, {
      chain,
      ...(await signAsFeePayer(context, job, { chain, lease, bytes, feePayer, limits })),
    })
  const signed: OutgoingSettlement = {
    bytes,
    signature: signatureOf(own),
    signer: null,
    nonce: verifiedProof.nonce ?? null,
    maxFee: 0n,
  }
  const payment = await recordBroadcast(
    context,
    { ...job, lease, transfer: transferOf(job) },
    { limits, signed },
  )
  return broadcastAndWatch(context, job, { chain, payment, signed })
}

/**
 * On EVM nothing in a signed transaction names what it pays for: once it is broadcast, anybody
 * could present it. The payer's signature over its name does.
 */
function isPublicTransfer({ terms }: Pick<Job, 'terms'>): boolean {
  return familyOf(terms.network.network) === 'evm'
}

type FeePaid = ClaimedPayment & { bytes: Uint8Array; feePayer: string; limits: ValidityLimits }

/**
 * Our wallet signs for a payer once every check has passed, for tokens also those of the official
 * facilitator.
 * @throws `PAYMENT_VERIFICATION_FAILED`
 */
async function signAsFeePayer(
  context: Context,
  job: Job,
  { chain, lease, bytes, feePayer, limits }: FeePaid,
) {
  const { terms, deadline } = job
  const verdict = terms.asset.native
    ? null
    : await orUndecided(deadline.within(verifyTokenOfficially({ chain, terms, bytes, feePayer })))
  if (verdict !== null) {
    context.log.warn(
      { verdict, network: chain.network.network },
      'the official facilitator does not verify a payment',
    )
    throw undecided('The payment could not be verified now. Nothing is decided.')
  }
  const address = facilitatorWallets(context, 'solana').find((wallet) => wallet === feePayer)
  const opened = await openFeePayer(context, address)
  return persistSettlement(context, job, {
    chain,
    lease,
    transfer: transferOf(job),
    wallet: opened.wallet.address,
    feeAtomic: feePayerFee(bytes).feeAtomic,
    limits,
    sign: () => coSign(opened, bytes),
  })
}

/**
 * The longest that a blockhash of this moment can live after the confirmed head: 150 blocks, and the
 * payer may have it from any of the 32 that are not final yet. A nonce has no such end, and counts
 * as ours for as long.
 */
export const LIFETIME_BLOCKS = 182

/** What the signed bytes say, which the verification checked against the terms. */
export function transferOf(job: Pick<Job, 'terms' | 'verifiedProof'>): ObservedTransfer {
  const { payTo, asset, amountAtomic } = job.terms
  const { payer, memo, nonce, fingerprint } = job.verifiedProof
  return {
    sender: payer ?? '',
    recipient: payTo,
    asset: asset.address,
    amountAtomic,
    memo,
    nonce: nonce ?? null,
    ...(fingerprint !== undefined && { fingerprint }),
  }
}

type Following = {
  chain: Chain
  payment: PaymentRecord
  signed: Pick<OutgoingSettlement, 'bytes' | 'signature'>
}

/**
 * Broadcasts what is recorded and waits for the chain; the watcher continues when this call has
 * ended.
 */
async function broadcastAndWatch(
  context: Context,
  job: Job,
  { chain, payment, signed }: Following,
): Promise<Settled> {
  const { deadline, report } = job
  const { signature } = signed
  await seenOr(
    deadline.within(
      broadcastStored(context, chain, {
        paymentId: payment.id,
        signature,
        signedTransaction: Buffer.from(signed.bytes).toString('base64'),
      }),
    ),
  )
  context.atPoint?.('settle:broadcast')
  notifyMonitor(chain)
  const seen = await seenOr(watch(chain, { signature, deadline }))
  if (seen && isCertain(seen))
    await applyObservation(context, {
      paymentId: payment.id,
      signature,
      observation: seen,
      source: 'service',
    })
  return outcome(job, (await findPayment(context.db, payment.id)) ?? payment, {
    alreadyProcessed: false,
    checks: report.checks,
  })
}

async function finish(
  context: Context,
  job: Job,
  { seen, lease, signature }: { seen: LandedObservation; lease: OpenClaim; signature: string },
): Promise<Settled> {
  const transfer = await validatePayment(context, job, seen)
  const payment = await recordLanded(context, { ...job, lease, transfer, signature }, seen)
  return { state: 'paid', payment, alreadyProcessed: false, checks: job.report.checks }
}

/** The same question again gets the first answer, with the payment's current status. */
async function repeat(context: Context, job: Job, claim: ClaimRecord): Promise<Settled> {
  const payment =
    claim.paymentId === null ? undefined : await findPayment(context.db, claim.paymentId)
  if (!payment) throw new Error(`The used claim ${claim.key} has no payment.`)
  const checks = v.parse(v.array(ProofCheck), parseJson(claim.checks ?? '[]'))
  const facts = { alreadyProcessed: true, reportedBefore: wasGranted(claim), checks }
  if (payment.status !== 'pending') return outcome(job, payment, facts)
  const chain = chainOf(context, payment.network)
  if (job.verifiedProof.authorization)
    return {
      ...(await monitorAuthorization(context, job, { chain, payment, alreadyProcessed: true })),
      ...facts,
    }
  const signature = payment.reportedSignature ?? job.verifiedProof.signature
  if (claim.transaction === null || signature === null) return outcome(job, payment, facts)
  const settled = await broadcastAndWatch(context, job, {
    chain,
    payment,
    signed: { bytes: Buffer.from(claim.transaction, 'base64'), signature },
  })
  return { ...settled, ...facts }
}

/** `twice`: where `not_found` decides. */
type Looking = { signature: string; stop?: () => boolean; twice?: boolean }

/**
 * @throws `PAYMENT_VERIFICATION_FAILED` when no node has answered in time; ProofRefusedError when the
 * pool shows another payment already
 */
async function look(
  chain: Chain,
  job: Job,
  { signature, stop, twice }: Looking,
): Promise<Observation> {
  const seen = await watch(chain, {
    signature,
    deadline: job.deadline,
    twice,
    stop: (observation) => stop?.() ?? contradicts(job, observation),
  })
  if (!seen) throw undecided('The network did not answer in time. Nothing is decided.')
  if (contradicts(job, seen) && seen.state === 'pending')
    validateTransfer(job, seen.transfer ?? null)
  return seen
}

/** Whether a transaction in the pool already shows that it is not this payment. */
function contradicts({ verifiedProof }: Job, observation: Observation): boolean {
  return (
    observation.state === 'pending' &&
    observation.transfer !== undefined &&
    (observation.transfer === null ||
      (verifiedProof.payer !== null && observation.transfer.sender !== verifiedProof.payer))
  )
}
