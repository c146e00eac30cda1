import { setTimeout } from 'node:timers/promises'
import { describeAmountProblem, formatAmount, parseAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { familyOf } from '#contract/network.ts'
import { isPaid } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { notifyMonitor, type Chain } from '../chains/chain.ts'
import type { Actor, Context } from '../context/context.ts'
import { readCursor } from '../db/cursors.ts'
import { lockPayment, movePayment, type PaymentRecord } from '../db/payments.ts'
import { recordEvent } from '../db/record-event.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { buildTransaction } from '../payments/build.ts'
import { refusePayee } from '../payments/attribution.ts'
import { readMetadata } from '../payments/describe-money.ts'
import { chainOf, refuseParameters } from '../context/network.ts'
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

/** How long a release waits for the search of the newest blocks, and how often it looks. */
const SEARCHED_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 100

/**
 * Gives up a refund on EVM that the chain does not show: what it holds can be refunded again. A wallet whose request is still open can send it all the
 * same; then it is confirmed. A repetition changes nothing.
 * @throws `INVALID_PARAMETERS` for what is no such refund, and for one that was seen; `NOT_FOUND`; `SERVICE_UNAVAILABLE` while the wallet may have sent it
 * unseen; `CHAIN_UNAVAILABLE`
 */
export async function releaseRefund(
  context: Context,
  actor: Actor,
  { paymentId: id }: EndpointInput<'transactionRelease'>['body'],
): Promise<EndpointReply<'transactionRelease'>> {
  const refund = await readOwnPayment(context, actor, id)
  const { refundOf, mode, network } = refund
  if (refundOf === null || mode !== 'local')
    throw refuseParameters({
      paymentId: 'Expected a refund that was built by POST /transaction/refund.',
    })
  if (familyOf(network) !== 'evm')
    throw refuseParameters({
      paymentId: 'Expected a refund on an EVM network; one on Solana expires by itself.',
    })
  if (refund.status === 'expired') return readPaymentBody(context, id)
  requireCreated(refund)
  const chain = chainOf(context, network)
  await requireSearched(context, chain, refund.sender)
  // The search may have found it.
  const { reportedSignature } = await readOwnPayment(context, actor, id)
  if (reportedSignature !== null) await requireUnseen(chain, reportedSignature)
  const at = context.now()
  await context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (!row || row.status === 'expired') return
    requireCreated(row)
    if (row.reportedSignature !== reportedSignature)
      throw retryLater(chain, 'A transaction was reported for this refund at this moment.')
    // Watchers look for what expired for a day from then on.
    await movePayment(tx, { id, from: row.status, to: 'expired', at, facts: { expiresAt: at } })
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
    { paymentId: id, refundOf, reportedSignature, keyId: actor.keyId },
    'a refund that the chain does not show was released',
  )
  return readPaymentBody(context, id)
}

function requireCreated({ status }: PaymentRecord): void {
  if (status !== 'created')
    throw refuseParameters({
      paymentId: `Expected a refund that the chain does not show; this one is ${status}.`,
    })
}

async function requireUnseen(chain: Chain, signature: string): Promise<void> {
  const { state } = await chain.observeTwice(signature)
  if (state !== 'not_found')
    throw refuseParameters({
      paymentId: `Expected a refund that the chain does not show; the transaction ${signature} was reported for this one, and the chain shows it as ${state}.`,
    })
}

/**
 * What the wallet has sent may be the refund, though nobody reported it: nothing of it may wait for a block, and the blocks that
 * have it must have been searched.
 */
async function requireSearched(context: Context, chain: Chain, wallet: string): Promise<void> {
  const { height: knownTo } = await chain.head()
  const isKnown = async () => new Set<string>()
  const { nonce: sent } = await chain.history(wallet, { since: null, knownTo, isKnown })
  // Read second: what was mined meanwhile is counted here.
  const { nonce: landed, height } = await chain.funds(wallet, async () => [])
  if (sent !== null && landed !== null && sent > landed)
    throw retryLater(
      chain,
      `A transaction of ${wallet} waits for a block, and may be this refund. Release it once that has landed or was cancelled.`,
    )
  const newest = Math.max(knownTo, height)
  const until = performance.now() + SEARCHED_WITHIN_MS
  notifyMonitor(chain)
  while ((await readCursor(context.db, chain.network.network)) < newest) {
    if (performance.now() > until)
      throw retryLater(
        chain,
        `The blocks up to ${newest} have not been searched for this refund yet.`,
      )
    await setTimeout(LOOK_EVERY_MS)
  }
}

function retryLater({ network: { blockTimeMs } }: Chain, problem: string): ProblemError {
  return new ProblemError('SERVICE_UNAVAILABLE', {
    message: `${problem} Nothing was released.`,
    retryAfter: Math.max(5, Math.ceil(blockTimeMs / 1_000)),
  })
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
