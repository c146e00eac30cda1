import { hashTypedData, hexToBytes, isHex } from 'viem'
import { isHashSignedByEvm } from '#chains/evm/verify-signature.ts'
import { isSignedBySolana } from '#chains/solana/signature.ts'
import { formatAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { createId, isPaid } from '#contract/payment.ts'
import { LosslessNumber } from '#contract/json.ts'
import { familyOf } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import {
  MOST_REFUND_REQUESTS,
  refundRequestText,
  refundRequestTypedData,
  type RefundRequestTerms,
} from '#contract/refund-request.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Context } from '../context/context.ts'
import { chainOf, refuseParameters } from '../context/network.ts'
import { readDeployment } from '../db/deployment.ts'
import { lockPayment, type PaymentRecord } from '../db/payments.ts'
import { recordEvent } from '../db/record-event.ts'
import {
  findRefundRequest,
  insertRefundRequest,
  isAskableOf,
  readNewestOf,
  readOpenRefundRequests,
  readRefundIds,
  readRefundRequests,
  writeDecision,
  type RefundRequestState,
} from '../db/refund-requests.ts'
import { readMetadata } from '../payments/describe-money.ts'
import { readLeft, requireLeft } from '../payments/reserve-refund.ts'
import { readOwnPayment } from '../payments/status.ts'
import { readRefundAmount, requireReceived } from './refund.ts'

type Created = EndpointReply<'refundRequestCreate'>
type Described = Created['request']

/** Requests that wait for a decision, the newest first. */
export async function listRefundRequests(
  { db }: Pick<Context, 'db'>,
  { accountId }: Actor,
  page: EndpointInput<'refundRequestList'>['query'],
): Promise<EndpointReply<'refundRequestList'>> {
  const { rows, total } = await readOpenRefundRequests(db, accountId, page)
  const requests = rows.map(({ payment, ...row }) => ({
    ...describe(payment, row),
    resource: payment.resource,
    metadata: readMetadata(payment.metadata),
  }))
  return { success: true, total, requests }
}

/**
 * The requests of one payment, and what its payer may ask for now.
 * @throws `NOT_FOUND`
 */
export async function readRequestsOf(
  context: Context,
  actor: Actor,
  paymentId: string,
): Promise<EndpointReply<'refundRequestRead'>> {
  const { db } = context
  const original = await readOwnPayment(context, actor, paymentId)
  const [requests, deployment, left, askable] = await Promise.all([
    readRefundRequests(db, paymentId),
    readDeployment(db),
    readLeft(db, original),
    isAskable(db, actor, original),
  ])
  const number = nextNumber(requests)
  const next =
    !askable || number === null || left <= 0n
      ? null
      : { number, deployment, amountAtomic: left.toString() }
  const described = requests.map((row) => describe(original, row))
  return { success: true, paymentId, requests: described, next }
}

/** The newest request of each of these payments, for the events that tell of them. */
export async function readNewestRequests(
  db: Database,
  paymentIds: readonly string[],
): Promise<Map<string, Described>> {
  const rows = await readNewestOf(db, paymentIds)
  return new Map(rows.map((row) => [row.payment.id, describe(row.payment, row)]))
}

/**
 * Records that the payer of a payment asks for it back. Only the wallet that paid can ask: what it signed names the payment, the amount and a number that
 * counts once. The same request again gets the one that is there.
 * @throws `NOT_FOUND`; `INVALID_PARAMETERS` for a payment that did not arrive at a wallet of the account or of which too little is left, for another signer, and while one is open;
 * `FORBIDDEN` where another account was paid; `CHAIN_UNAVAILABLE`
 */
export async function createRefundRequest(
  context: Context,
  actor: Actor,
  input: EndpointInput<'refundRequestCreate'>['body'],
): Promise<Created> {
  const { db } = context
  const { paymentId, number, amount, reason = '', signature } = input
  const original = await readOwnPayment(context, actor, paymentId)
  await requireAskable(db, actor, original)
  const known = (await readRefundRequests(db, paymentId)).find(
    ({ request }) => request.number === number,
  )?.request
  const amountAtomic =
    amount === undefined
      ? (known?.amount ?? (await readLeft(db, original)))
      : readRefundAmount(amount, original)
  const terms = { ...termsOf(original, await readDeployment(db)), number, amountAtomic, reason }
  await requireSigned(context, terms, signature)
  return db.transaction(async (tx) => {
    const row = await lockPayment(tx, paymentId)
    const requests = await readRefundRequests(tx, paymentId)
    const same = requests.find(({ request }) => request.number === number)
    if (same) {
      if (same.request.amount === amountAtomic && (same.request.reason ?? '') === reason)
        return { success: true, request: describe(original, same) }
      throw refuseParameters({
        number: `Expected another number: request ${number} of this payment asks for something else.`,
      })
    }
    if (!row || !isPaid(row.status))
      throw refuseParameters({
        paymentId: 'Expected a payment that has arrived; the chain has undone this one.',
      })
    requireNext(requests, number)
    requireLeft(row, { amountAtomic, left: await readLeft(tx, row) })
    const request = {
      id: createId('rfr'),
      accountId: row.accountId,
      paymentId,
      number,
      amount: amountAtomic,
      reason: reason === '' ? null : reason,
      signature,
      earlierRefunds: await readRefundIds(tx, paymentId),
      createdAt: context.now(),
      declinedAt: null,
      declinedBy: null,
      declineNote: null,
      settledAt: null,
    }
    await insertRefundRequest(tx, request)
    await recordRequestEvent(tx, row, { source: 'client', at: request.createdAt })
    return {
      success: true,
      request: describe(row, { request, refunded: false, covered: false, superseded: false }),
    }
  })
}

/**
 * Declines a request, or with `decline: false` opens it again.
 * @throws `NOT_FOUND` for one of another account, or one that is not in that state
 */
export async function decideRefundRequest(
  context: Context,
  { actor, requestId, decline }: { actor: Actor; requestId: string; decline: boolean },
  { by, note }: { by?: string | undefined; note?: string | undefined },
): Promise<Created> {
  const found = await findRefundRequest(context.db, requestId)
  if (found?.accountId !== actor.accountId) throw noRequest(requestId, decline)
  const at = context.now()
  const declined = decline ? { at, by: by ?? null, note: note ?? null } : null
  const request = await context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, found.paymentId)
    const [newest] = await readRefundRequests(tx, found.paymentId)
    const expected = decline ? 'open' : 'declined'
    if (!row || newest?.request.id !== requestId || stateOf(newest) !== expected)
      throw noRequest(requestId, decline)
    await writeDecision(tx, requestId, declined)
    await recordRequestEvent(tx, row, { source: 'service', at })
    const decided = {
      ...newest.request,
      declinedAt: declined?.at ?? null,
      declinedBy: declined?.by ?? null,
      declineNote: declined?.note ?? null,
    }
    return describe(row, { ...newest, request: decided })
  })
  context.log.info(
    { paymentId: found.paymentId, requestId, decline, keyId: actor.keyId, by },
    'a person decided about a request for a refund',
  )
  return { success: true, request }
}

function noRequest(requestId: string, decline: boolean): ProblemError {
  const kind = decline
    ? 'open request for a refund'
    : 'declined request for a refund that is the newest of its payment'
  return new ProblemError('NOT_FOUND', {
    message: `There is no ${kind} with the id ${requestId}.`,
  })
}

/**
 * A stranger can pay another stranger and have the account record it: it is asked for what its own wallets received. One that registered
 * none is asked for all; who may hand in a request there is for its program to check.
 * @throws those of `requireReceived`; `INVALID_PARAMETERS`
 */
async function requireAskable(db: Database, actor: Actor, original: PaymentRecord): Promise<void> {
  await requireReceived(db, actor, original)
  const { direction, id, recipient } = original
  if (direction !== 'received' && !(await isAskableOf(db, actor.accountId, id)))
    throw refuseParameters({
      paymentId: `Expected a payment to a wallet of this account; ${recipient} is none. If it is yours, register it.`,
    })
}

async function isAskable(db: Database, actor: Actor, original: PaymentRecord): Promise<boolean> {
  try {
    await requireAskable(db, actor, original)
    return true
  } catch (error) {
    if (error instanceof ProblemError) return false
    throw error
  }
}

/** Null while a request is open, and after the last one. */
function nextNumber(requests: readonly RefundRequestState[]): number | null {
  const [newest] = requests
  if (!newest) return 1
  const state = stateOf(newest)
  if (state === 'open' || state === 'refunding') return null
  return newest.request.number < MOST_REFUND_REQUESTS ? newest.request.number + 1 : null
}

/** @throws `INVALID_PARAMETERS` */
function requireNext(requests: readonly RefundRequestState[], number: number): void {
  const next = nextNumber(requests)
  if (next === number) return
  const last = requests[0]?.request.number
  throw refuseParameters({
    number:
      next !== null
        ? `Expected ${next}, the next request of this payment, received ${number}.`
        : last === MOST_REFUND_REQUESTS
          ? `Expected a payment with fewer than ${MOST_REFUND_REQUESTS} requests.`
          : `Expected no other request: number ${last} of this payment is not decided yet.`,
  })
}

type PaidTerms = Omit<RefundRequestTerms, 'number' | 'amountAtomic' | 'reason'>

function termsOf(original: PaymentRecord, deployment: string): PaidTerms {
  const { id: paymentId, network, sender: payer, asset, symbol, decimals } = original
  return { paymentId, network, deployment, payer, asset, symbol, decimals }
}

/**
 * The signature of the paying wallet: of its key, or of the contract at its address on the network
 * of the payment.
 * @throws `INVALID_PARAMETERS`; `CHAIN_UNAVAILABLE`
 */
async function requireSigned(
  context: Context,
  terms: RefundRequestTerms,
  signature: string,
): Promise<void> {
  if (await isSignedByPayer(context, terms, signature)) return
  throw refuseParameters({
    signature: `Expected the signature of ${terms.payer}, which made the payment, over this payment, number, amount and reason. Read GET /refund-requests/${terms.paymentId} and sign again.`,
  })
}

async function isSignedByPayer(
  context: Context,
  terms: RefundRequestTerms,
  signature: string,
): Promise<boolean> {
  const { payer, network } = terms
  if (familyOf(network) === 'solana')
    return isSignedBySolana(payer, refundRequestText(terms), signature)
  const hash = hashTypedData(typed(refundRequestTypedData(terms)))
  if (isHashSignedByEvm(payer, hexToBytes(hash), signature)) return true
  if (!isHex(signature) || signature.length % 2 !== 0) return false
  const { contracts } = chainOf(context, network)
  return (await contracts?.accepts({ address: payer, hash, signature })) === true
}

/** Addresses are in their normal form by now, which the types of viem cannot see. */
function typed(data: unknown): Parameters<typeof hashTypedData>[0] {
  return data as Parameters<typeof hashTypedData>[0]
}

function stateOf(row: RefundRequestState): Described['state'] {
  const { request, refunded, covered, superseded } = row
  // What went back later belongs to the request that came later.
  if (superseded && request.declinedAt !== null) return 'declined'
  if (refunded) return 'refunded'
  if (request.declinedAt !== null) return 'declined'
  return covered ? 'refunding' : 'open'
}

function describe(
  { sender: payer, recipient, network, asset, symbol, decimals }: PaymentRecord,
  row: RefundRequestState,
): Described {
  const { request } = row
  return {
    requestId: request.id,
    paymentId: request.paymentId,
    number: request.number,
    state: stateOf(row),
    payer,
    recipient,
    network,
    asset,
    symbol,
    decimals,
    amount: new LosslessNumber(formatAmount(request.amount, decimals)),
    amountAtomic: request.amount.toString(),
    reason: request.reason,
    signature: request.signature,
    timestamp: request.createdAt.getTime(),
    declined:
      request.declinedAt === null
        ? null
        : { at: request.declinedAt.getTime(), by: request.declinedBy, note: request.declineNote },
  }
}

/** The caller has locked the payment. */
async function recordRequestEvent(
  tx: Database,
  { id, accountId, status, blockHeight }: PaymentRecord,
  { source, at }: { source: 'client' | 'service'; at: Date },
): Promise<void> {
  await recordEvent(tx, {
    kind: 'refund_request',
    accountId,
    paymentId: id,
    status,
    source,
    blockHeight,
    at,
  })
}
