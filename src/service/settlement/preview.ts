import { type VerifiedAuthorization, callOf } from '#chains/evm/authorization.ts'
import { fact, type CheckFact } from '#contract/facts.ts'
import { familyOf } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { chainOf } from '../context/network.ts'
import { confirmsOrder, findClaim, wasGranted, type Claimant } from '../db/claims.ts'
import { findPayment } from '../db/payments.ts'
import { isReturned } from '../db/refunds.ts'
import { requireBudget } from '../db/settlement-fees.ts'
import { isAdoptable } from '../payments/attribution.ts'
import { GRANTED_OR_NOT, mayHaveBeenGranted, requireGranting } from '../reconciliation/affirm.ts'
import {
  checkFunds,
  checkPayer,
  checkValidity,
  contractsOf,
  simulateExecution,
} from '../verification/check-authorization.ts'
import { verifyTokenOfficially } from '../verification/official-solana.ts'
import { verifyOfficially } from '../verification/official.ts'
import { DeadlineExceededError, type Deadline, readProofTime } from '../verification/proof-time.ts'
import { messageKey } from '../verification/read-signed.ts'
import { resourceOf } from '../verification/terms.ts'
import { refuseBroadcast, refuseUnbound, simulateSigned } from '../verification/simulate-signed.ts'
import {
  validatePayment,
  validateMemo,
  type ProofUnderCheck,
} from '../verification/validate-transfer.ts'
import {
  VerificationReport,
  ProofRefusedError,
  undecided,
} from '../verification/verification-report.ts'
import { IN_SETTLEMENT } from './claim.ts'
import { dailyFees, facilitatorWallets } from './facilitator-wallet.ts'
import { outcome } from './outcome.ts'
import { reportSignature, type SignatureFinding } from './verify-at-once.ts'
import { isCertain, watch } from './watch.ts'

type Preview = ProofUnderCheck & {
  claimant: Claimant
  fingerprint: string
  keyless: boolean
  deadline: Deadline
  signature: SignatureFinding
}

/**
 * Who pays, if known. `isSettling`: the same caller has begun to settle this payment, and was not
 * told success yet.
 */
export type Previewed = { payer: string | null; isSettling: boolean }

/**
 * Whether a payment could be settled now, without holding, signing, sending or recording anything.
 * @throws ProofRefusedError; NotValidNowError; DeadlineExceededError, `PAYMENT_VERIFICATION_FAILED`, `CHAIN_UNAVAILABLE`
 * when nothing is decided
 */
export async function preview(context: Context, previewed: Preview): Promise<Previewed> {
  const { terms, verifiedProof, report } = previewed
  await requireGranting(context, terms.network.network)
  const chain = chainOf(context, terms.network.network)
  const { key } = verifiedProof
  // Without the payer's signature, a payment that is being settled proves nothing.
  const verified = reportSignature(previewed.signature, report)
  const settling = key === null ? null : await findSettling(context, previewed, key)
  if (settling) return settling
  const before = report.checks.length
  try {
    return await previewFresh(context, previewed, { chain, verified })
  } catch (error) {
    if (key === null || !(error instanceof ProofRefusedError)) throw error
    // What looks used or underfunded by now may be this very payment, which has just landed.
    const began = await findSettling(
      context,
      { ...previewed, report: new VerificationReport() },
      key,
    )
    if (!began) throw error
    report.checks.length = before
    return began
  }
}

async function previewFresh(
  context: Context,
  previewed: Preview,
  { chain, verified }: { chain: Chain; verified: VerifiedAuthorization | null },
): Promise<Previewed> {
  const { signature } = previewed.verifiedProof
  if (verified)
    return {
      payer: await previewAuthorization(context, previewed, { chain, verified }),
      isSettling: false,
    }
  // A transaction that the fee payer must sign first cannot be on the chain without having been
  // claimed.
  if (signature === null)
    return { payer: await previewSigned(context, previewed, chain), isSettling: false }
  return previewNamed(context, previewed, { chain, signature })
}

async function previewNamed(
  context: Context,
  previewed: Preview,
  { chain, signature }: { chain: Chain; signature: string },
): Promise<Previewed> {
  const { verifiedProof, deadline, keyless, report } = previewed
  const affirmedHeight = await requireGranting(context, chain.network.network)
  // A transaction for us to broadcast is looked up once; one that the payer has broadcast is waited
  // for.
  const seen = await watch(chain, { signature, deadline, stop: () => verifiedProof.bytes !== null })
  if (!seen) throw new DeadlineExceededError()
  const isPublic =
    keyless || (verifiedProof.bytes !== null && familyOf(chain.network.network) === 'evm')
  if (seen.state !== 'not_found') {
    if (isPublic) refuseBroadcast(report, seen.state)
    refuseUnbound(previewed, seen.state)
  }
  if (verifiedProof.key === null && isCertain(seen) && seen.messageHash !== undefined) {
    const settling = await findSettling(context, previewed, messageKey(seen.messageHash))
    if (settling) return settling
  }
  const landed = seen.state === 'landed'
  if (landed && mayHaveBeenGranted({ blockHeight: seen.height }, affirmedHeight))
    throw undecided(GRANTED_OR_NOT)
  if (isCertain(seen))
    return { payer: (await validatePayment(context, previewed, seen)).sender, isSettling: false }
  // Simulated now it would fail, because it has happened.
  if (landed)
    throw undecided(
      'The payment is on the chain, in a block that may still be replaced. Nothing is decided.',
    )
  return { payer: await previewSigned(context, previewed, chain), isSettling: false }
}

async function previewSigned(
  context: Context,
  previewed: Preview,
  chain: Chain,
): Promise<string | null> {
  const { terms, verifiedProof } = previewed
  if (!verifiedProof.bytes) throw new ProblemError('PAYMENT_VERIFICATION_FAILED')
  await validateMemo(context, previewed, verifiedProof.memo)
  await simulateSigned(previewed, chain, verifiedProof.bytes)
  const { bytes, feePayer } = verifiedProof
  const verdict =
    feePayer && !terms.asset.native
      ? await verifyTokenOfficially({ chain, terms, bytes, feePayer })
      : null
  refuseVerdict(context, chain, verdict)
  return verifiedProof.payer
}

/**
 * What the same caller has already begun to settle and was not told success of; null where the
 * payment was not used yet.
 * @throws ProofRefusedError when it has failed, was told as success, or is another caller's
 */
async function findSettling(
  context: Context,
  { terms, verifiedProof, claimant, fingerprint, report }: Preview,
  key: string,
): Promise<Previewed | null> {
  const affirmedHeight = await requireGranting(context, terms.network.network)
  const claim = await findClaim(context.db, {
    network: terms.network.network,
    key,
    scope: claimant.scope,
  })
  if (claim?.consumedAt === null || claim === undefined) return accept(fact('never_used'))
  const payment =
    claim.paymentId === null ? undefined : await findPayment(context.db, claim.paymentId)
  const granted =
    wasGranted(claim) ||
    confirmsOrder(claim) ||
    (payment ? await isReturned(context.db, payment) : false)
  const own = claim.scope === claimant.scope
  // An order that was confirmed without a proof, and that a proof for the same resource can adopt.
  if (
    own &&
    confirmsOrder(claim) &&
    payment &&
    isAdoptable(payment, resourceOf({ terms, verifiedProof }))
  )
    return accept(fact('confirmed_order'))
  const ok = own && !granted && claim.fingerprint === fingerprint && payment !== undefined
  const expected = fact('unused_or_in_settlement')
  const got = fact(ok ? 'in_settlement' : granted ? 'used' : 'in_other_settlement')
  report.check('already_used', {
    name: ok || granted ? 'single_use' : IN_SETTLEMENT,
    source: 'record',
    ok,
    expected,
    got,
  })
  if (!payment) return null
  outcome({ report }, payment, { alreadyProcessed: false, checks: report.checks })
  if (mayHaveBeenGranted(payment, affirmedHeight)) throw undecided(GRANTED_OR_NOT)
  return { payer: payment.sender, isSettling: true }

  function accept(got: CheckFact): null {
    report.check('already_used', {
      name: 'single_use',
      source: 'record',
      ok: true,
      expected: fact('never_used'),
      got,
    })
    return null
  }
}

type AuthorizationUnderCheck = ProofUnderCheck & { keyless: boolean }
type Authorized = { chain: Chain; verified: VerifiedAuthorization }

/**
 * Whether an authorization could be executed now, after its signature was checked, one question after
 * the other, so that every refusal names its reason.
 * @throws ProofRefusedError; NotValidNowError; `PAYMENT_VERIFICATION_FAILED`, `RATE_LIMIT`
 */
async function previewAuthorization(
  context: Context,
  { terms, report, accountId, keyless }: AuthorizationUnderCheck,
  { chain, verified }: Authorized,
): Promise<string> {
  const contracts = contractsOf(chain)
  const use = await contracts.findUse(verified)
  report.check('already_used', {
    name: 'fresh',
    source: 'chain',
    ok: !use.used,
    expected: fact('never_executed'),
    got: fact(use.used ? 'executed' : 'never_executed'),
  })
  checkValidity(
    { authorization: verified, report },
    await readProofTime(context, terms.network.network),
  )
  await checkFunds({ chain, terms, authorization: verified, report })
  const [address] = facilitatorWallets(context, 'evm')
  if (address === undefined)
    throw undecided(
      'This service does not settle tokens: it has no fee payer for them. Nothing is decided.',
    )
  await checkPayer(context, { chain, report }, verified.from)
  const { feeAtomic } = await simulateExecution(
    { chain, report },
    { from: address, ...callOf(verified) },
  )
  const { network } = chain
  await requireBudget(context.db, {
    network: network.network,
    wallet: address,
    accountId: keyless ? null : accountId,
    feeAtomic,
    limits: dailyFees(context, network),
  })
  refuseVerdict(
    context,
    chain,
    await verifyOfficially({ contracts, terms, authorization: verified, address }),
  )
  return verified.from
}

/** An objection of the package proves nothing, since our own checks have all passed. */
function refuseVerdict(context: Context, chain: Chain, verdict: string | null): void {
  if (verdict === null) return
  context.log.warn(
    { verdict, network: chain.network.network },
    'the official facilitator does not verify a payment',
  )
  throw undecided('The payment could not be verified now. Nothing is decided.')
}
