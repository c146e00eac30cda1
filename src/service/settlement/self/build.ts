import type { EndpointReply } from '#contract/endpoints.ts'
import { nativeAsset } from '#contract/network.ts'
import type { ProofCheck } from '#contract/proof.ts'
import type { SettlementInput } from '#contract/settlement.ts'
import type { Actor, Context } from '../../context/context.ts'
import { chainOf, refuseParameters } from '../../context/network.ts'
import { findClaim } from '../../db/claims.ts'
import type { PaymentRecord } from '../../db/payments.ts'
import { claimantOf } from '../../payments/attribution.ts'
import { readPriorityFee } from '../../payments/read-intent.ts'
import { Deadline } from '../../verification/proof-time.ts'
import type { ExpectedTerms } from '../../verification/terms.ts'
import {
  VerificationReport,
  ProofRefusedError,
  undecided,
} from '../../verification/verification-report.ts'
import { verifyProof } from '../../verification/verify-proof.ts'
import { monitorQuestion } from '../monitor-self.ts'
import type { Job } from '../outcome.ts'
import { withOwnFacilitators } from '../facilitator-wallet.ts'
import { chooseFacilitator, fingerprintOf, readProof, readTerms } from '../receive.ts'
import { openRemote } from '../remote.ts'
import { settle } from '../settle.ts'
import { isCertain } from '../watch.ts'
import { order } from './order.ts'
import { prepare, type Prepared } from './prepare.ts'
import { reply } from './reply.ts'

/** How long the chain is checked before the answer is that nothing is decided. */
const WITHIN_MS = 20_000

/**
 * Builds the transaction by which the payee settles a proof itself, without a facilitator. Building
 * uses up nothing: the proof stays valid for either way until one of them has landed. A payment
 * that the payer has already made is checked and used up here, as `/payment/receive` does it.
 * @throws `INVALID_PARAMETERS`; `INVALID_PAYMENT_PROOF` for a proof that is proven bad;
 * `INSUFFICIENT_BALANCE` when the payee cannot pay the network fee; `PAYMENT_VERIFICATION_FAILED`,
 * `CHAIN_UNAVAILABLE` when nothing is decided
 */
export async function buildSettlement(
  service: Context,
  actor: Actor,
  body: SettlementInput,
): Promise<EndpointReply<'transactionReceive'>> {
  const context = await withOwnFacilitators(service, actor.accountId)
  // The payee itself pays the network fee where the payer does not.
  const terms = readTerms(context, body, [body.walletAddress])
  const { network } = terms
  const priorityFeeAtomic = readPriorityFee(body.priorityFee, nativeAsset(network).decimals)
  if (typeof priorityFeeAtomic === 'string')
    throw refuseParameters({ priorityFee: priorityFeeAtomic })
  const claimant = await claimantOf(context.db, actor, {
    network: network.network,
    address: terms.payTo,
  })
  const report = new VerificationReport()
  const deadline = new Deadline(WITHIN_MS)
  const payment = readProof(body.paymentProof, report)
  const verifiedProof = await verifyProof({ payment, terms, report })
  const facilitator = chooseFacilitator(context, body, terms)
  const fingerprint = fingerprintOf(terms, facilitator?.href ?? null)
  const job: Job = {
    accountId: actor.accountId,
    claimant,
    terms,
    verifiedProof,
    report,
    deadline,
    fingerprint,
  }
  // Only a named one is asked: settling without a facilitator is the point.
  const remote =
    body.facilitatorUrl === undefined || !facilitator
      ? undefined
      : openRemote(context, { url: facilitator, payment, terms, report, deadline })

  if (await isSettled(context, job)) {
    const settled = await settle(context, { ...job, ...(remote && { remote }) })
    if (settled.state === 'pending' || !settled.payment)
      throw undecided('The payment is not confirmed on the chain yet. Send the same request again.')
    return acknowledge(context, { ...settled, payment: settled.payment, terms, priorityFeeAtomic })
  }
  const prepared = await prepareUnlessLanded(context, job, priorityFeeAtomic)
  await remote?.verify()
  return order(context, job, prepared)
}

/**
 * What looks used may be what was built here before, and has just landed: then nothing is refused,
 * and nothing is certain yet.
 */
async function prepareUnlessLanded(
  context: Context,
  job: Job,
  priorityFeeAtomic: bigint | undefined,
): Promise<Prepared> {
  try {
    return await prepare(context, job, priorityFeeAtomic)
  } catch (error) {
    const { accountId, terms, verifiedProof, fingerprint } = job
    const question = {
      accountId,
      network: terms.network.network,
      key: verifiedProof.key ?? '',
      fingerprint,
    }
    const settled =
      error instanceof ProofRefusedError ? await monitorQuestion(context, question) : undefined
    if (!settled || settled.status === 'created') throw error
    throw undecided(
      'The payment is on the chain, and not confirmed yet. Send the same request again.',
    )
  }
}

/**
 * Whether the payer has been charged already, by its own transaction or because this proof was
 * settled before.
 */
async function isSettled(
  context: Context,
  { accountId, claimant, terms, verifiedProof, fingerprint }: Job,
): Promise<boolean> {
  const { network } = terms.network
  const { key, bytes, authorization, signature } = verifiedProof
  if (!bytes && !authorization) return true
  if (key === null) return false
  await monitorQuestion(context, { accountId, network, key, fingerprint })
  if ((await findClaim(context.db, { network, key, scope: claimant.scope }))?.consumedAt)
    return true
  // Anybody who holds a fully signed transaction may have broadcast it.
  return signature !== null && isCertain(await chainOf(context, network).observe(signature))
}

type Paid = {
  payment: PaymentRecord
  terms: ExpectedTerms
  checks: readonly ProofCheck[]
  alreadyProcessed: boolean
  priorityFeeAtomic: bigint | undefined
}

/**
 * What a payee writes on the chain for a payment it received: on Solana as a memo; on EVM its
 * Keccak-256, as the data of a call without value.
 */
function receiptText(paymentId: string): string {
  return `x402-receipt:${paymentId}`
}

/**
 * Nothing is left to settle: the returned transaction only acknowledges the payment, for a caller
 * that wants that on the chain.
 */
async function acknowledge(
  context: Context,
  { payment, terms, checks, alreadyProcessed, priorityFeeAtomic }: Paid,
): Promise<EndpointReply<'transactionReceive'>> {
  const note = {
    payee: terms.payTo,
    payer: payment.sender,
    text: receiptText(payment.id),
    priorityFeeAtomic,
  }
  const built = await chainOf(context, payment.network).note(note)
  const { bytes, encoding, lastValidBlockHeight, builtHeight, decoded } = built
  const prepared = {
    settlement: 'already_settled',
    kind: 'receipt',
    bytes,
    encoding,
    signer: terms.payTo,
    lastValidBlockHeight,
    builtHeight,
    decoded,
    fee: built,
    goodUntil: null,
  } as const
  return reply(context, { payment, prepared, checks, alreadyProcessed })
}
