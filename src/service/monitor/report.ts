import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { describe } from '#contract/fields.ts'
import { familyOf } from '#contract/network.ts'
import { isPaid } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import {
  type Chain,
  type Observation,
  readTransactionName,
  notifyMonitor,
} from '../chains/chain.ts'
import type { Actor, Context } from '../context/context.ts'
import { readDeployment } from '../db/deployment.ts'
import { findBySignature, setEvidence, setReported, type PaymentRecord } from '../db/payments.ts'
import { readOrders } from '../db/settlement-orders.ts'
import { findTransferRefund } from '../db/unmatched.ts'
import { reportSettlement } from '../settlement/self/report.ts'
import { applyObservation } from '../payments/apply-observation.ts'
import { chainOf, refuseParameters } from '../context/network.ts'
import { isPayerSignature, matchesPayment } from '../payments/attribution.ts'
import { readOwnPayment, readPaymentBody } from '../payments/status.ts'

/**
 * A client says what it broadcast. A transaction the chain does not know yet is kept as a hint and changes nothing: it reserves no signature and
 * moves no status, so a wrong report can neither spoil this payment nor keep another from its own transaction.
 * @throws `INVALID_PARAMETERS` for a signature of another shape, and for a transaction that is not this payment; `NOT_FOUND`, `CHAIN_UNAVAILABLE`
 */
export async function reportSubmitted(
  context: Context,
  actor: Actor,
  report: EndpointInput<'transactionSubmitted'>['body'],
): Promise<EndpointReply<'transactionSubmitted'>> {
  const reported = await readOwnPayment(context, actor, report.paymentId)
  const signature = readSignature(reported, report.signature)
  const payment = await keepEvidence(context, reported, report)
  const order = (await readOrders(context.db, [payment.id])).get(payment.id)
  if (order) return reportSettlement(context, { payment, order, signature })
  if (payment.mode !== 'local')
    throw refuseParameters({
      paymentId:
        'Expected a payment that its payer broadcasts, received one that the service sends itself.',
    })
  const chain = chainOf(context, payment.network)
  if (payment.signature !== signature) await consider(context, { payment, signature, chain })
  return readPaymentBody(context, payment.id)
}

/** Keeps what ties the order to its payer. It is no move: the chain confirms. @throws `INVALID_PARAMETERS` for a signature of anybody else, or over anything else */
async function keepEvidence(
  context: Context,
  row: PaymentRecord,
  report: EndpointInput<'transactionSubmitted'>['body'],
): Promise<PaymentRecord> {
  const { payerSignature, payerNonce = row.nonce, senderVerified } = report
  if (
    payerSignature !== undefined &&
    (payerNonce === null ||
      !isPayerSignature(row, await readDeployment(context.db), {
        nonce: payerNonce,
        signature: payerSignature,
      }))
  )
    throw refuseParameters({
      payerSignature: `Expected the signature of ${row.sender} over evidence.request of this payment with the nonce ${payerNonce ?? 'of its transaction'}.`,
    })
  const evidence = {
    ...(payerSignature !== undefined && { payerSignature, payerNonce }),
    ...(senderVerified === true && { senderVerified, draft: false }),
  }
  return Object.keys(evidence).length === 0
    ? row
    : ((await setEvidence(context.db, row.id, evidence)) ?? row)
}

type Report = { payment: PaymentRecord; signature: string; chain: Chain }

async function consider(context: Context, { payment, signature, chain }: Report): Promise<void> {
  const observation = await observeOrKeep(context, { payment, signature, chain })
  if (isForeign(payment, observation)) throw refuse('it is not this payment', signature)
  const owner = await findBySignature(context.db, { ...payment, signature })
  if (owner && owner.id !== payment.id) throw refuse('it already pays another payment', signature)

  const refund =
    observation.state === 'landed' &&
    (await findTransferRefund(context.db, { ...payment, signature }))
  if (refund && isPaid(refund.status))
    throw refuse(`the payment ${refund.paymentId} refunded it`, signature)
  if (isPaid(payment.status)) {
    if (observation.state === 'not_found') return
    throw refuse('this payment is already paid by another transaction', signature)
  }
  await setReported(context.db, payment.id, { signature, at: context.now() })
  // A transaction in the pool is told at once; everything beyond `pending` is for the watcher to say.
  if (payment.status === 'created' && observation.state === 'pending') {
    await applyObservation(context, {
      paymentId: payment.id,
      signature,
      observation,
      source: 'client',
    })
  }
  // Watchers look at expired payments rarely; here the chain has just shown one.
  if (payment.status === 'expired')
    await applyObservation(context, {
      paymentId: payment.id,
      signature,
      observation,
      source: 'watcher',
    })
  notifyMonitor(chain)
}

/** A chain that is down must not lose the report. */
async function observeOrKeep(
  context: Context,
  { payment, signature, chain }: Report,
): Promise<Observation> {
  try {
    return await chain.observe(signature)
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'CHAIN_UNAVAILABLE')
      await setReported(context.db, payment.id, { signature, at: context.now() })
    throw error
  }
}

function isForeign(payment: PaymentRecord, observation: Observation): boolean {
  if (observation.state === 'not_found') return false
  // Seen, but not yet served by the node: nothing is known of its meaning.
  if (observation.state === 'pending' && observation.transfer === undefined) return false
  return !matchesPayment(
    payment,
    observation.transfer,
    observation.state === 'landed' ? observation : null,
  )
}

/** The signature in its normal form. */
function readSignature({ network }: PaymentRecord, text: string): string {
  const signature = readTransactionName(network, text)
  if (signature !== undefined) return signature
  const shape =
    familyOf(network) === 'evm' ? 'hash, 0x and 64 hex digits' : 'signature, base58 of 64 bytes'
  throw refuseParameters({
    signature: `Expected a transaction ${shape}, received ${describe(text)}.`,
  })
}

function refuse(reason: string, signature: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: `This transaction was not accepted: ${reason}.`,
    details: {
      signature: `Expected the transaction of this payment, received ${describe(signature)}: ${reason}.`,
    },
  })
}
