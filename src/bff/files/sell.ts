import { ProblemError } from '#contract/problem.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { readDatabaseClock } from '#postgres/clock.ts'
import { familyOf } from '#contract/network.ts'
import { TXID_METHOD } from '#x402/methods.ts'
import { encodeSettlement } from '#x402/settlement.ts'
import type { ProxyContext } from '../context/context.ts'
import { insertPurchase, notePresenter, startSending, type FileRow } from '../db/files.ts'
import type { HttpContext } from '../http/env.ts'
import { spender } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'
import { deliver, settleDelivery } from './deliver.ts'
import { challengeOf, offersOf, presenterOf, readProof, type FilePaymentOption } from './offers.ts'
import { buys, readStatus } from './ownership.ts'
import { openSource, readRange, requireSource, SourceError, type ByteRange } from './source.ts'

/** How long the service may look for a payment, in seconds: a buyer is waiting. */
const SETTLE_S = 20
/** An offer that was made before the file was withdrawn can still be paid for so long. */
const LAST_PAYMENTS_MS = 15 * 60_000
/** Beyond it, a process that began to send has ended. */
const SENDING_MS = 3_700_000
const RETRY_AFTER_S = 5

type Sale = { c: HttpContext; context: ProxyContext; file: FileRow; visitor: Visitor }
type Asked = {
  offers: readonly FilePaymentOption[]
  offer: FilePaymentOption
  question: Record<string, unknown>
}

/** A program asks for a file: it is told the price, or what it sends is settled and the file sent. */
export async function sell(sale: Sale): Promise<Response> {
  const { c, context, file } = sale
  const requestId = c.get('requestId')
  const withdrawn = file.withdrawnAt?.getTime()
  // Both names are of the same thing; the version is inside.
  const header = c.req.header('payment-signature') ?? c.req.header('x-payment')
  const closed = withdrawn !== undefined && context.now().getTime() >= withdrawn + LAST_PAYMENTS_MS
  if (closed || (withdrawn !== undefined && header === undefined))
    throw new ProblemError('NOT_FOUND', { message: 'This file is not sold any more.' })
  const offers = await offersOf(context, file, requestId)
  // A request without a body to answer buys nothing.
  if (header === undefined || c.req.method === 'HEAD') return ask(sale, offers, 'Payment required')
  const read = readProof(context, file, { header, offers })
  if (!read.ok) {
    tellSettlement(c, { success: false, errorReason: read.reason })
    return read.readable ? ask(sale, offers, read.message) : c.json({ error: read.message }, 400)
  }
  // Here already: the source of the merchant is asked for nobody who sends too much.
  context.budgets.spend(spender(sale.visitor), 'action')
  const { size, ranges } = await requireSource(context, file)
  const range = readRange(c.req.header('range'), ranges ? size : null)
  if (range === 'unsatisfiable') return unsatisfiable(c, file)
  const settled = await settle(sale, { offers, offer: read.offer, question: read.question })
  return settled instanceof Response ? settled : send(sale, settled, range)
}

/** 402: version 2 in the header, version 1 in the body. */
function ask(
  { c, context, file }: Sale,
  offers: readonly FilePaymentOption[],
  error: string,
): Response {
  if (offers.length === 0)
    throw new ProblemError('SERVICE_UNAVAILABLE', {
      message: 'This file cannot be paid for now. Nothing was charged.',
      retryAfter: RETRY_AFTER_S,
    })
  const { header, body } = challengeOf(context, file, { offers, error })
  c.header('PAYMENT-REQUIRED', header)
  return c.json(body, 402)
}

type Settled = { paymentId: string; wallet: string }

async function settle(sale: Sale, { offers, offer, question }: Asked): Promise<Settled | Response> {
  const { c, context, file, visitor } = sale
  const requestId = c.get('requestId')
  // Before anything is broadcast, and by the one clock that all replicas share.
  const presentedAt = await readDatabaseClock(context.db)
  try {
    const { parsed } = await context.upstream.write(
      'paymentReceive',
      {
        body: { ...question, timeout: SETTLE_S },
        requestId,
        timeoutMs: (SETTLE_S + 10) * 1_000,
      },
      // It was spent before the source was asked.
      () => {},
    )
    const { verified, paymentId, sender, signature, network } = parsed
    const facts = { transaction: signature, network, ...(sender !== null && { payer: sender }) }
    const first =
      paymentId === null || (await presentedFirst(sale, { paymentId, offer, presentedAt }))
    if (!verified || paymentId === null || sender === null) {
      tellSettlement(c, { success: false, errorReason: 'settlement_pending', ...facts })
      c.header('Retry-After', '2')
      return c.json(
        { status: 'pending', hint: 'The payment is on its way. Ask again with the same payment.' },
        202,
      )
    }
    tellSettlement(c, { success: true, ...facts })
    if (!first) return used(c, paymentId)
    const solana = familyOf(network) === 'solana'
    // It may have gone back to its payer since it was settled.
    if (parsed.alreadyProcessed || solana) {
      const payment = await readStatus({ context, visitor, requestId }, paymentId)
      if (!payment || !buys(context, file, payment)) return used(c, paymentId)
      // Everybody can read a transaction that a checkout built. Its payer gets the file after sign-in.
      if (solana && payment.mode !== 'received') return used(c, paymentId)
    }
    const purchase = { paymentId, fileId: file.id, wallet: sender, createdAt: context.now() }
    await insertPurchase(context.db, purchase)
    return { paymentId, wallet: sender }
  } catch (error) {
    // Only a proof that is proven bad may lead to a new price; every other problem is ours.
    if (!(error instanceof ProblemError) || error.code !== 'INVALID_PAYMENT_PROOF') throw error
    tellSettlement(c, {
      success: false,
      errorReason: reasonCodeOf(error.facts.details) ?? 'malformed',
    })
    return ask(sale, offers, error.message)
  }
}

/**
 * Whether nobody presented this payment earlier from another address. An authorization or a
 * transaction is public once it is broadcast, and only who made it can ask before that. What the
 * payer signs for `txid` stays between the payer and this proxy.
 */
async function presentedFirst(
  { context, file, visitor }: Sale,
  {
    paymentId,
    offer,
    presentedAt,
  }: { paymentId: string; offer: FilePaymentOption; presentedAt: Date },
): Promise<boolean> {
  if (offer.method === TXID_METHOD) return true
  const presenter = presenterOf(file, visitor.address)
  return (await notePresenter(context.db, { paymentId, presenter, presentedAt })) === presenter
}

/** Sends the file to the one request that comes first, once. */
async function send(
  { c, context, file }: Sale,
  { paymentId }: Settled,
  range: ByteRange | undefined,
): Promise<Response> {
  const now = context.now()
  const until = new Date(now.getTime() + SENDING_MS)
  if (!(await startSending(context.db, paymentId, { now, until }))) return used(c, paymentId)
  try {
    return deliver(c, context, { file, paymentId, opened: await openSource(context, file, range) })
  } catch (error) {
    const failed = error instanceof SourceError
    const requestId = c.get('requestId')
    await settleDelivery(context, { paymentId, requestId, delivered: false, failed })
    if (!failed) throw error
    c.header('Retry-After', String(RETRY_AFTER_S))
    return c.json(
      {
        error:
          'The payment arrived, and the file could not be read. Ask again with the same payment: you are not charged again.',
        paymentId,
      },
      503,
    )
  }
}

/** Not a 402: a client would pay again. */
function used(c: HttpContext, paymentId: string): Response {
  const error =
    'This payment was used, or went back to its payer. Sign in with the wallet that paid to read the file again.'
  return c.json({ error, paymentId }, 409)
}

function unsatisfiable(c: HttpContext, { size }: FileRow): Response {
  c.header('Content-Range', `bytes */${size ?? '*'}`)
  return c.json({ error: 'The file has no such part. Nothing was charged.' }, 416)
}

function tellSettlement(
  c: HttpContext,
  outcome: {
    success: boolean
    errorReason?: string
    transaction?: string
    network?: string
    payer?: string
  },
): void {
  const value = encodeSettlement({ transaction: '', network: '', ...outcome })
  c.header('PAYMENT-RESPONSE', value)
  c.header('X-PAYMENT-RESPONSE', value)
}
