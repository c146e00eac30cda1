import { addressFact, amountFact, fact, textFact, type CheckFact } from '#contract/facts.ts'
import { familyOf } from '#contract/network.ts'
import { isPaymentId } from '#contract/payment.ts'
import { MAX_PROOF_AGE_MS } from '#x402/methods.ts'
import type { Observation, ObservedTransfer } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { findPayment } from '../db/payments.ts'
import { findHosted, isAdoptable } from '../payments/attribution.ts'
import { undecided, type VerificationReport } from './verification-report.ts'
import { checkTime, readProofTime } from './proof-time.ts'
import { resourceOf, type VerifiedProof, type ExpectedTerms } from './terms.ts'

export type LandedObservation = Extract<Observation, { state: 'landed' }>
export type ProofUnderCheck = {
  accountId: string
  terms: ExpectedTerms
  verifiedProof: VerifiedProof
  report: VerificationReport
}

/** Chain clocks differ from ours, and a transaction sent in time may land a little late. */
const SLACK_MS = 60_000

/**
 * What the chain itself shows of a payment, regardless of anybody's claims.
 * @throws ProofRefusedError; `PAYMENT_VERIFICATION_FAILED` when the node leaves out what decides
 */
export async function validatePayment(
  context: Context,
  proof: ProofUnderCheck,
  landed: LandedObservation,
): Promise<ObservedTransfer> {
  const { report } = proof
  const succeeded = fact('landed_and_succeeded')
  const ended = landed.succeeded
    ? succeeded
    : landed.failure === null
      ? fact('failed')
      : textFact(landed.failure)
  report.check('transaction_failed', {
    name: 'transaction',
    source: 'chain',
    ok: landed.succeeded,
    expected: succeeded,
    got: ended,
  })
  const transfer = validateTransfer(proof, pick(proof, landed))
  await validateMemo(context, proof, transfer.memo)
  await refuseOwnPayment(context, proof)
  await validateTime(context, proof, landed.blockTime)
  report.check('transaction_failed', {
    name: 'confirmations',
    source: 'chain',
    ok: landed.confirmed,
    expected: fact('confirmed_by_policy'),
    got: { code: 'height', params: { height: landed.height } },
  })
  return transfer
}

/**
 * What a transaction moved of the requested asset: the one plain transfer, or of many the one to
 * the payee.
 */
function pick(
  { terms }: ProofUnderCheck,
  { transfer, moved = [] }: LandedObservation,
): ObservedTransfer | null {
  if (terms.asset.native || transfer?.asset === terms.asset.address) return transfer
  const ofToken = moved.filter(({ asset }) => asset === terms.asset.address)
  return ofToken.find(({ recipient }) => recipient === terms.payTo) ?? ofToken[0] ?? transfer
}

/** @throws ProofRefusedError */
export function validateTransfer(
  { terms, verifiedProof, report }: ProofUnderCheck,
  transfer: ObservedTransfer | null,
): ObservedTransfer {
  const plain = transfer !== null
  report.check('unexpected_instruction', {
    name: 'plain_transfer',
    source: 'chain',
    ok: plain,
    expected: { code: 'one_plain_transfer', params: { symbol: terms.asset.symbol } },
    got: fact(plain ? 'one' : 'another_transaction'),
  })
  if (!transfer) throw new TypeError('The check above has refused this.')
  const payer = verifiedProof.payer ?? transfer.sender
  // Otherwise anybody could present another payer's transaction.
  report.equal('payer_mismatch', {
    name: 'payer',
    source: 'chain',
    expected: payer,
    got: transfer.sender,
  })
  report.check('payer_mismatch', {
    name: 'not_the_payee',
    source: 'chain',
    ok: transfer.sender !== terms.payTo,
    expected: fact('payer_not_payee'),
    got: addressFact(transfer.sender),
  })
  report.equal('asset_mismatch', {
    name: 'paid_asset',
    source: 'chain',
    expected: terms.asset.address,
    got: transfer.asset,
  })
  report.equal('recipient_mismatch', {
    name: 'paid_to',
    source: 'chain',
    expected: terms.payTo,
    got: transfer.recipient,
  })
  report.equal(
    'amount_mismatch',
    {
      name: 'paid_amount',
      source: 'chain',
      expected: terms.amountAtomic.toString(),
      got: transfer.amountAtomic.toString(),
    },
    (atomic) => amountFact(atomic, terms.asset),
  )
  return transfer
}

/**
 * The memo must be the requested one, or name a payment that this account issued for this resource:
 * a payer whose transaction this service built could not choose it.
 */
export async function validateMemo(
  context: Context,
  { accountId, terms, verifiedProof, report }: ProofUnderCheck,
  memo: string | null,
): Promise<void> {
  if (familyOf(terms.network.network) === 'evm') return
  // A token transfer is bound because it was presented before it was broadcast. One that this service
  // built is bound to its payment.
  const built = memo !== null && isPaymentId(memo)
  if (!terms.asset.native && terms.memo === null && !built) return
  const given = terms.resource !== null && built
  if (terms.memo !== null && (memo === terms.memo || !given))
    return report.check('memo_mismatch', {
      name: 'memo',
      source: 'chain',
      ok: memo === terms.memo,
      expected: textFact(terms.memo),
      got: textOrNone(memo),
    })
  const payment = built ? await findPayment(context.db, memo) : undefined
  // A payment from a managed wallet names itself in the memo, whichever account it belongs to; the
  // resource shows that it is this one.
  const hosted = payment?.mode === 'hosted' && terms.resource !== null
  const own = hosted || (payment?.accountId === accountId && payment.mode !== 'received')
  report.check('memo_mismatch', {
    name: 'memo',
    source: 'record',
    ok: own,
    expected: fact('own_payment_id'),
    got: textOrNone(memo),
  })
  const resource = payment?.resource ?? null
  // Anybody who reads the chain could present what a customer paid a link with.
  if (!payment || !isAdoptable(payment, resource))
    refuseOrder(report, resourceOf({ terms, verifiedProof }))
  if (terms.resource === null) return
  report.check('resource_mismatch', {
    name: 'memo_resource',
    source: 'record',
    ok: resource === terms.resource,
    expected: textFact(terms.resource),
    got: textOrNone(resource),
  })
}

/**
 * On EVM, as the memo does it on Solana: a payment from this account's managed wallet without a
 * resource, or to a payment link, is no proof for the same account. Its ledger has the transfer once.
 */
async function refuseOwnPayment(
  context: Context,
  { accountId, terms, verifiedProof, report }: ProofUnderCheck,
): Promise<void> {
  const { signature } = verifiedProof
  if (familyOf(terms.network.network) !== 'evm' || !terms.asset.native || signature === null) return
  const hosted = await findHosted(context.db, terms.network.network, signature)
  const resource = resourceOf({ terms, verifiedProof })
  if (hosted?.accountId === accountId && !isAdoptable(hosted, resource))
    refuseOrder(report, resource)
}

/** @throws ProofRefusedError `already_used` */
function refuseOrder(report: VerificationReport, resource: string | null): void {
  report.check('already_used', {
    name: 'paid_order',
    source: 'record',
    ok: false,
    expected: { code: 'order_for', params: { resource } },
    got: fact('another_order'),
  })
}

function textOrNone(text: string | null): CheckFact {
  return text === null ? fact('none') : textFact(text)
}

/**
 * Terms are compared only with block times; only the maximum age of a proof needs the current time.
 */
async function validateTime(
  context: Context,
  { terms, report }: ProofUnderCheck,
  blockTime: Date | null,
): Promise<void> {
  if (blockTime === null)
    throw undecided('The network does not say when the payment was made. Nothing is decided.')
  const { latest, finalized } = await readProofTime(context, terms.network.network)
  const oldest = latest.getTime() - MAX_PROOF_AGE_MS
  const from = terms.notBefore === null ? oldest : Math.max(oldest, terms.notBefore - SLACK_MS)
  const to = terms.expiresAt === null ? Infinity : terms.expiresAt + SLACK_MS
  const at = blockTime.getTime()
  const expected = {
    code: 'window',
    params: { from, to: terms.expiresAt === null ? null : to },
  } as const
  const window = {
    name: 'window',
    source: 'chain',
    ok: at >= from && at <= to,
    expected,
    got: { code: 'time', params: { at } },
  } as const
  const isOver = at < finalized.getTime() - MAX_PROOF_AGE_MS
  const wasLate = at > to || (terms.notBefore !== null && at < terms.notBefore - SLACK_MS)
  checkTime(report, window, isOver || wasLate)
}
