import type { EndpointReply } from '#contract/endpoints.ts'
import type { FacilitatorInput } from '#contract/facilitator.ts'
import { fact } from '#contract/facts.ts'
import { familyOf, nativeAsset, type Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProofCheck } from '#contract/proof.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { EXACT_SCHEME, methodsOf } from '#x402/methods.ts'
import { formatNetworkV1 } from '#x402/networks.ts'
import type { Actor, Context } from '../context/context.ts'
import { chainOf } from '../context/network.ts'
import { claimantOf, PAYEE_NOT_OWNED } from '../payments/attribution.ts'
import { checkSignature } from '../verification/check-authorization.ts'
import { Deadline, DeadlineExceededError, NotValidNowError } from '../verification/proof-time.ts'
import { InputRefusedError, type VerifiedProof, namedPayer } from '../verification/terms.ts'
import { VerificationReport, ProofRefusedError } from '../verification/verification-report.ts'
import { verifyProof } from '../verification/verify-proof.ts'
import {
  readInput,
  type FacilitatorQuestion,
  DUPLICATE_SETTLEMENT,
  nameReason,
  SETTLEMENT_PENDING,
} from './facilitator-input.ts'
import { facilitatorWallets, settlesHere } from './facilitator-wallet.ts'
import type { Job } from './outcome.ts'
import { PAYMENT_IDENTIFIER, tieIdentifier } from './payment-identifier.ts'
import { preview } from './preview.ts'
import { fingerprintOf } from './receive.ts'
import { reserveFunds, findSignature, verifyAtOnce, type AtOnce } from './verify-at-once.ts'
import { settle } from './settle.ts'

/** The patience of the official `HTTPFacilitatorClient`. */
export const OFFICIAL_PATIENCE_MS = 90_000

const LEAST_MS = 60_000
const MOST_MS = 600_000
/** Blocks that may pass before the payment is in one, and the time in which we hear of the last. */
const SPARE_BLOCKS = 2
const MARGIN_MS = 5_000

/** How long a payment on a network takes to be confirmed by its policy, in milliseconds. On Solana that is the cluster's own commitment. */
export function confirmationMs({ network, confirmations, blockTimeMs }: Network): number {
  return familyOf(network) === 'evm' ? (confirmations + SPARE_BLOCKS) * blockTimeMs + MARGIN_MS : 0
}

/** How long a settlement is waited for, in milliseconds: as long as its confirmation needs, from one to ten minutes. */
export function settleWithinMs(network: Network): number {
  return Math.min(Math.max(confirmationMs(network), LEAST_MS), MOST_MS)
}

/** What an operator should know at the start; undefined where every official client waits long enough. */
export function describeSlowness(network: Network): string | undefined {
  const needed = confirmationMs(network)
  if (needed <= OFFICIAL_PATIENCE_MS) return undefined
  const seconds = Math.ceil(needed / 1000)
  return `A payment on ${network.name} needs ${network.confirmations} confirmations, about ${seconds} s. Official x402 clients give up after ${OFFICIAL_PATIENCE_MS / 1000} s: lower "confirmations" of this network, or expect their buyers to send a payment twice.`
}

/**
 * The x402 facilitator, on the same code as `/payment/receive`: the terms come from the resource
 * server that asks. Bodies and reasons are those of x402 v2, sections 5.3, 7 and 9.
 */

const VERIFY_WITHIN_MS = 10_000

/**
 * `extra.feePayer`: pays the network fee on Solana for a payer who wants that, and for every token.
 */
export function describeSupported(context: Context): EndpointReply<'facilitatorSupported'> {
  const kinds = context.config.networks.flatMap((configured) => {
    const { network, confirmations } = configured
    const [feePayer] = familyOf(network) === 'solana' ? facilitatorWallets(context, 'solana') : []
    const extra = {
      assetTransferMethods: settledMethods(context, configured),
      confirmations,
      ...(feePayer !== undefined && { feePayer }),
    }
    return ([1, 2] as const).map((x402Version) => ({
      x402Version,
      scheme: EXACT_SCHEME,
      network: x402Version === 1 ? formatNetworkV1(network) : network,
      extra,
    }))
  })
  const signers = {
    'eip155:*': facilitatorWallets(context, 'evm'),
    'solana:*': facilitatorWallets(context, 'solana'),
  }
  return {
    kinds,
    extensions: [PAYMENT_IDENTIFIER],
    signers: Object.fromEntries(
      Object.entries(signers).filter(([, addresses]) => addresses.length > 0),
    ),
  }
}

/**
 * Tokens are settled where a wallet pays the network fee for that; native currency everywhere. SPL
 * is `default`, as the official packages call it.
 */
function settledMethods(context: Context, network: Network): string[] {
  const settlesTokens =
    settlesHere(context, network.network) && network.assets.some(({ native }) => !native)
  return [
    ...methodsOf(network.network, nativeAsset(network)),
    ...(settlesTokens ? methodsOf(network.network, { native: false }) : []),
  ]
}

type VerifyReply = EndpointReply<'facilitatorVerify'>
type SettleReply = EndpointReply<'facilitatorSettle'>

/**
 * Whether a payment could be settled now. Nothing is locked, broadcast or recorded, but funds that
 * payers promise by signature are reserved for a short time. While the same caller's settlement is
 * pending, or was not reported as success yet, the payment is still valid.
 */
export async function verifyPayment(
  context: Context,
  actor: Actor,
  input: FacilitatorInput,
): Promise<VerifyReply> {
  const payer = namedPayer(input.paymentPayload)
  const named = payer !== undefined && { payer }
  const question = readOrRefuse(context, input)
  if ('refused' in question)
    return {
      isValid: false,
      invalidReason: question.refused.reason,
      invalidMessage: question.refused.message,
      ...named,
    }
  const report = new VerificationReport()
  try {
    const verified = await verifyQuestion(context, actor, { ...question, report })
    return {
      isValid: true,
      ...(verified === null ? named : { payer: verified }),
      extra: checked(report),
    }
  } catch (error) {
    const { reason, message } = explain(error, question)
    return {
      isValid: false,
      invalidReason: reason,
      invalidMessage: message,
      ...named,
      extra: checked(report),
    }
  }
}

async function verifyQuestion(
  context: Context,
  actor: Actor,
  { payment, terms, identifier, report }: FacilitatorQuestion & { report: VerificationReport },
) {
  const deadline = new Deadline(VERIFY_WITHIN_MS)
  const verifiedProof = await verifyProof({ payment, terms, report })
  const signature = await deadline.within(findSignature(context, { terms, verifiedProof }))
  const known = { terms, verifiedProof, report, signature }
  const payer =
    identifier === null ? await deadline.within(verifyAtOnce(context, actor, known)) : null
  return payer ?? verifyInSteps(context, actor, { ...known, identifier, deadline })
}

/** Names the reason of a refusal; verifies what cannot be verified at once. */
async function verifyInSteps(
  context: Context,
  actor: Actor,
  { terms, verifiedProof, report, signature, identifier, deadline }: AtOnce & StepsOnly,
) {
  const { network } = terms.network
  const claimant = await claimantOf(context.db, actor, { network, address: terms.payTo })
  refuseReference(actor, verifiedProof, report)
  const fingerprint = fingerprintOf(terms, null, actor)
  const { keyless = false } = actor
  const previewed = {
    accountId: actor.accountId,
    claimant,
    fingerprint,
    keyless,
    terms,
    verifiedProof,
    report,
    deadline,
    signature,
  }
  const { payer, isSettling } = await deadline.within(preview(context, previewed))
  if (identifier !== null)
    await deadline.within(tieIdentifier(context, { identifier, terms, verifiedProof }))
  if (!isSettling) await deadline.within(reserveFunds(context, { terms, verifiedProof, report }))
  return payer
}

type StepsOnly = { identifier: string | null; deadline: Deadline }

function checked({ checks }: VerificationReport): { checks: ProofCheck[] } {
  return { checks: [...checks] }
}

/**
 * Settles a payment. Of all calls for one payment exactly one gets success: the one that had it
 * broadcast, or a later one of the same caller when the first was never answered. An
 * `Idempotency-Key` gets the first answer again.
 */
export async function settlePayment(
  context: Context,
  actor: Actor,
  input: FacilitatorInput,
): Promise<SettleReply> {
  const payer = namedPayer(input.paymentPayload)
  const named = payer !== undefined && { payer }
  const question = readOrRefuse(context, input)
  const { network: required } = input.paymentRequirements
  // As the seller spells it: the schema of version 1 admits only its names.
  const spelled = typeof required === 'string' ? required : ''
  if ('refused' in question) {
    const { reason, message } = question.refused
    return {
      success: false,
      errorReason: reason,
      errorMessage: message,
      ...named,
      transaction: '',
      network: spelled,
    }
  }
  const { payment, terms, identifier } = question
  const { network } = terms.network
  const report = new VerificationReport()
  let verifiedProof: VerifiedProof | undefined
  try {
    verifiedProof = await verifyProof({ payment, terms, report })
    const claimant = await claimantOf(context.db, actor, { network, address: terms.payTo })
    refuseReference(actor, verifiedProof, report)
    const job = {
      accountId: actor.accountId,
      claimant,
      terms,
      verifiedProof,
      report,
      deadline: new Deadline(settleWithinMs(terms.network)),
      fingerprint: fingerprintOf(terms, null, actor),
      keyless: actor.keyless ?? false,
      caller: actor.caller,
    }
    if (identifier !== null) await tieSigned(context, { ...job, identifier })
    const settled = await settle(context, job)
    const known = settled.payment?.sender ?? verifiedProof.payer
    const facts = {
      ...(known !== null && { payer: known }),
      network: spelled,
      ...(settled.payment && { paymentId: settled.payment.id }),
    }
    const transaction =
      settled.payment?.signature ??
      settled.payment?.reportedSignature ??
      verifiedProof.signature ??
      ''
    // The official server retries once when a settlement is pending, and only if it gets the
    // transaction.
    if (settled.state === 'pending')
      return { success: false, errorReason: SETTLEMENT_PENDING, ...facts, transaction }
    if (!settled.alreadyProcessed) return { success: true, ...facts, transaction }
    return {
      success: false,
      errorReason: settled.reportedBefore ? 'already_used' : DUPLICATE_SETTLEMENT,
      ...facts,
      transaction: '',
    }
  } catch (error) {
    const { reason, message } = explain(error, question)
    const transaction = reason === SETTLEMENT_PENDING ? (verifiedProof?.signature ?? '') : ''
    return {
      success: false,
      errorReason: reason,
      errorMessage: message,
      ...named,
      transaction,
      network: spelled,
    }
  }
}

/** Only what the payer has signed may take an id of the payer. */
async function tieSigned(
  context: Context,
  { identifier, terms, verifiedProof, deadline }: Job & { identifier: string },
): Promise<void> {
  const { authorization } = verifiedProof
  const chain = chainOf(context, terms.network.network)
  if (authorization)
    await deadline.within(
      checkSignature({ chain, terms, authorization, report: new VerificationReport() }),
    )
  await deadline.within(tieIdentifier(context, { identifier, terms, verifiedProof }))
}

function readOrRefuse(
  context: Context,
  input: FacilitatorInput,
): FacilitatorQuestion | { refused: InputRefusedError } {
  try {
    return readInput(context, input)
  } catch (error) {
    if (error instanceof InputRefusedError) return { refused: error }
    throw error
  }
}

/**
 * On-chain data is public, and a caller without an account cannot show that it is its own.
 * @throws ProofRefusedError
 */
function refuseReference(
  { keyless = false }: Actor,
  { bytes, authorization }: VerifiedProof,
  report: VerificationReport,
): void {
  if (!keyless || bytes || authorization) return
  report.check('unsupported_method', {
    name: 'public_reference',
    source: 'proof',
    ok: false,
    expected: fact('signed_or_api_key'),
    got: fact('transaction_name'),
  })
}

/**
 * The reason and the sentence for the error that ended a call.
 * @throws the error itself where it is our fault
 */
function explain(
  error: unknown,
  { terms }: FacilitatorQuestion,
): { reason: string; message: string } {
  if (error instanceof ProofRefusedError || error instanceof NotValidNowError)
    return { reason: nameReason(error, familyOf(terms.network.network)), message: error.message }
  if (error instanceof ProblemError && reasonCodeOf(error.facts.details) === PAYEE_NOT_OWNED)
    return { reason: PAYEE_NOT_OWNED, message: error.message }
  if (error instanceof DeadlineExceededError || isOpen(error))
    return { reason: SETTLEMENT_PENDING, message: 'Nothing is decided yet; ask again.' }
  throw error
}

function isOpen(error: unknown): boolean {
  return (
    error instanceof ProblemError &&
    (error.code === 'PAYMENT_VERIFICATION_FAILED' || error.code === 'CHAIN_UNAVAILABLE')
  )
}
