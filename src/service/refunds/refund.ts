import { describeAmountProblem, formatAmount, parseAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { familyOf } from '#contract/network.ts'
import { isPaid } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Context } from '../context/context.ts'
import { lockPayment, movePayment, type PaymentRecord } from '../db/payments.ts'
import { recordEvent } from '../db/record-event.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { buildTransaction } from '../payments/build.ts'
import { refusePayee } from '../payments/attribution.ts'
import { readMetadata } from '../payments/describe-money.ts'
import { refuseParameters } from '../context/network.ts'
import { readLeft, requireLeft } from '../payments/reserve-refund.ts'
import { prepareSend, sendOnce, type SendRequest } from '../hosted/send.ts'
import { readOwnPayment, readPaymentBody } from '../payments/status.ts'

type Body = EndpointInput<'transactionRefund'>['body']

/**
 * Returns a payment, in whole or part, from a managed wallet. A request repeated under its key gets the same refund.
 * @throws `INVALID_PARAMETERS` for a payment that did not arrive at a wallet of the account, a wallet of another account, and an amount above what is left;
 * all of `sendPayment`
 */
export async function refundPayment(
  context: Context,
  actor: Actor,
  request: Pick<SendRequest, 'idempotency' | 'waitMs'> & {
    body: EndpointInput<'paymentRefund'>['body']
  },
): Promise<EndpointReply<'paymentRefund'>> {
  const { body, idempotency, waitMs } = request
  const prepare = async () =>
    prepareSend(context, actor, { ...(await readRefund(context, actor, body)), idempotency })
  return sendOnce(context, actor, { idempotency, waitMs, prepare })
}

/**
 * Builds the unsigned transaction that returns a payment, in whole or part.
 * @throws `INVALID_PARAMETERS` for a payment that did not arrive, a wallet of another account, and an amount above what is left; all of `buildTransaction`
 */
export async function buildRefund(
  context: Context,
  actor: Actor,
  input: Body,
): Promise<EndpointReply<'transactionRefund'>> {
  const { refund, body } = await readRefund(context, actor, input)
  const reply = await buildTransaction(context, actor, {
    ...body,
    ...(input.senderVerified && { senderVerified: true }),
    refund,
  })
  return { ...reply, refundOf: refund.refundOf }
}

/**
 * Gives up a refund on EVM that nobody signed: what it holds can be refunded again. A wallet whose request is still open can send it all the same;
 * then it is confirmed. A repetition changes nothing.
 * @throws `INVALID_PARAMETERS` for what is no such refund, and for one that was signed; `NOT_FOUND`
 */
export async function releaseRefund(
  context: Context,
  actor: Actor,
  { paymentId: id }: EndpointInput<'transactionRelease'>['body'],
): Promise<EndpointReply<'transactionRelease'>> {
  const { refundOf, mode, network } = await readOwnPayment(context, actor, id)
  if (refundOf === null || mode !== 'local')
    throw refuseParameters({
      paymentId: 'Expected a refund that was built by POST /transaction/refund.',
    })
  if (familyOf(network) !== 'evm')
    throw refuseParameters({
      paymentId: 'Expected a refund on an EVM network; one on Solana expires by itself.',
    })
  const at = context.now()
  await context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || row.status === 'expired') return
    const { status, reportedSignature } = row
    if (status !== 'created' || reportedSignature !== null)
      throw refuseParameters({
        paymentId: `Expected a refund that nobody signed; ${reportedSignature === null ? `this one is ${status}` : `the transaction ${reportedSignature} was reported for this one`}.`,
      })
    // Watchers look for what expired for a day from then on.
    await movePayment(tx, { id, from: status, to: 'expired', at, facts: { expiresAt: at } })
    await recordEvent(tx, {
      accountId: row.accountId,
      paymentId: id,
      status: 'expired',
      source: 'client',
      blockHeight: null,
      at,
    })
  })
  context.log.info(
    { paymentId: id, refundOf, keyId: actor.keyId },
    'a refund that nobody signed was released',
  )
  return readPaymentBody(context, id)
}

/** What a refund sends. The original decides to whom, of what, and under which reference. */
async function readRefund(
  context: Context,
  actor: Actor,
  { paymentId, walletAddress, amount, reason, note, priorityFee, metadata }: Body,
) {
  const original = await readOwnPayment(context, actor, paymentId)
  await requireReceived(context.db, actor, original)
  const sender = walletAddress ?? original.recipient
  if (sender !== original.recipient) {
    // What the account never received is returned by who did: their wallet, with their signature.
    if (original.direction !== 'received')
      throw refuseParameters({
        walletAddress: `Expected ${original.recipient}, which received the payment: it is not a wallet of this account, so no other one refunds it.`,
      })
    if ((await findOwner(context.db, original.network, sender)) !== actor.accountId)
      throw refuseParameters({
        walletAddress:
          'Expected the wallet that received the payment, or another wallet of this account.',
      })
  }
  const left = await readLeft(context.db, original)
  const amountAtomic = amount === undefined ? left : readRefundAmount(amount, original)
  requireLeft(original, { amountAtomic, left })
  const reference = readMetadata(original.metadata)?.['referenceId']
  const { referenceId: _, ...own } = metadata ?? {}
  const ownMetadata = { ...own, ...(reference !== undefined && { referenceId: reference }) }
  return {
    refund: { refundOf: original.id, refundReason: reason ?? null, refundNote: note ?? null },
    body: {
      walletAddress: sender,
      recipientAddress: original.sender,
      amount: formatAmount(amountAtomic, original.decimals),
      network: original.network,
      asset: original.asset,
      ...(Object.keys(ownMetadata).length > 0 && { metadata: ownMetadata }),
      ...(priorityFee !== undefined && { priorityFee }),
    },
  }
}

/** @throws `INVALID_PARAMETERS` for a payment that did not arrive, or that the account itself sent; `FORBIDDEN` where another account was paid */
export async function requireReceived(
  db: Database,
  actor: Actor,
  original: PaymentRecord,
): Promise<void> {
  const { status, direction, network, recipient, refundOf, draft } = original
  if (!isPaid(status) || draft)
    throw refuseParameters({
      paymentId: `Expected a payment that has arrived; this one is ${draft ? 'a draft' : status}.`,
    })
  if (refundOf !== null)
    throw refuseParameters({
      paymentId: `Expected a payment that a customer made; this one is the refund of ${refundOf}.`,
    })
  if (direction === 'received') return
  if (direction !== 'external')
    throw refuseParameters({
      paymentId:
        'Expected a payment that a customer made; this one was sent from a wallet of this account.',
    })
  // Callers without registered wallets refund what they were paid; nobody refunds what another account was paid.
  const owner = await findOwner(db, network, recipient)
  if (owner !== undefined && owner !== actor.accountId) throw refusePayee(recipient)
}

/** @throws `INVALID_PARAMETERS` */
export function readRefundAmount(text: string, { decimals }: PaymentRecord): bigint {
  const parsed = parseAmount(text, decimals)
  if (!parsed.ok)
    throw refuseParameters({ amount: describeAmountProblem(parsed.problem, text, decimals) })
  return parsed.atomic
}
