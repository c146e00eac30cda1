import { ProblemError } from '#contract/problem.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { familyOf } from '#contract/network.ts'
import { TXID_METHOD } from '#x402/methods.ts'
import { encodeSettlement } from '#x402/payload.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  deletePresenter,
  insertPurchase,
  notePresenter,
  PRESENTER_RETENTION_MS,
  type FileRow,
} from '../db/files.ts'
import type { HttpContext } from '../http/reply.ts'
import { spender } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'
import { deliver, FileSending, settleDelivery } from './deliver.ts'
import { challengeOf, offersOf, presenterOf, readProof, type FilePaymentOption } from './offers.ts'
import { buys, readStatus } from './ownership.ts'
import { openSource, readRange, requireSource, SourceError, type ByteRange } from './source.ts'

/** How long the service may look for a payment, in seconds: a buyer is waiting. */
const SETTLE_S = 20
/**
 * And for one that its payer has sent. It is presented when blocks hold it, and anybody can name one
 * that nobody knows: a buyer whose payment is not found yet asks again.
 */
const LOOK_S = 5
/** An offer that was made before the file was withdrawn can still be paid for so long. */
const LAST_PAYMENTS_MS = 15 * 60_000
const RETRY_AFTER_S = 5
/** The proof is over, and its transaction was public: the chain may still show it, or shows it for something else. */
const MAY_LAND: ReadonlySet<string | undefined> = new Set(['transaction_failed', 'already_used'])
/** Who presented an older payment may be forgotten; less a day, since clocks differ. */
const PRESENTED_WITHIN_MS = PRESENTER_RETENTION_MS - 24 * 3_600_000

type Sale = { c: HttpContext; context: ProxyContext; file: FileRow; visitor: Visitor }
type PresentedPayment = {
  offers: readonly FilePaymentOption[]
  paymentOption: FilePaymentOption
  question: Record<string, unknown>
  proof: string | null
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
  if (header === undefined || c.req.method === 'HEAD')
    return requestPayment(sale, offers, 'Payment required')
  const read = readProof(context, file, { header, offers })
  if (!read.ok) {
    writeSettlementHeaders(c, { success: false, errorReason: read.reason })
    return read.readable
      ? requestPayment(sale, offers, read.message)
      : c.json({ error: read.message }, 400)
  }
  // Here already: the source of the merchant is asked for nobody who sends too much.
  context.budgets.spend(spender(sale.visitor), 'action')
  const { size, ranges } = await requireSource(context, file)
  const range = readRange(c.req.header('range'), ranges ? size : null)
  if (range === 'unsatisfiable') return unsatisfiable(c, file)
  const { paymentOption, question, proof } = read
  const settled = await settle(sale, { offers, paymentOption, question, proof })
  return settled instanceof Response ? settled : send(sale, settled, range)
}

/** 402: version 2 in the header, version 1 in the body. */
function requestPayment(
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

async function settle(sale: Sale, attempt: PresentedPayment): Promise<Settled | Response> {
  const { c, context, file, visitor } = sale
  const { offers, paymentOption, question, proof } = attempt
  const requestId = c.get('requestId')
  const presented = proof !== null && { proof, presenter: presenterOf(file, visitor.address) }
  // An authorization or a transaction is public once it is broadcast: who reads it there presents it
  // after the payer, whose row is here before the service knows it.
  if (presented && !(await isFirst(sale, presented))) return presentedElsewhere(c)
  try {
    const timeout = paymentOption.method === TXID_METHOD ? LOOK_S : SETTLE_S
    const { parsed } = await context.budgets.whileWaiting(visitor.address, () =>
      context.upstream.write(
        'paymentReceive',
        {
          body: { ...question, timeout },
          requestId,
          timeoutMs: (timeout + 10) * 1_000,
          keyless: true,
        },
        // It was spent before the source was asked.
        () => {},
      ),
    )
    const { verified, paymentId, sender, signature, network } = parsed
    const facts = { transaction: signature, network, ...(sender !== null && { payer: sender }) }
    if (!verified || paymentId === null || sender === null) {
      writeSettlementHeaders(c, { success: false, errorReason: 'settlement_pending', ...facts })
      c.header('Retry-After', '2')
      return c.json(
        { status: 'pending', hint: 'The payment is on its way. Ask again with the same payment.' },
        202,
      )
    }
    writeSettlementHeaders(c, { success: true, ...facts })
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
    const age = context.now().getTime() - parsed.timestamp
    // What the payer signs for `txid` stays between the payer and this proxy.
    const known = presented ? age < PRESENTED_WITHIN_MS : paymentOption.method === TXID_METHOD
    if (known) return { paymentId, wallet: sender }
    await settleDelivery(context, { paymentId, requestId, delivered: false, failed: false })
    return used(c, paymentId)
  } catch (error) {
    // Only a proof that is proven bad may lead to a new price; every other problem is ours.
    if (!(error instanceof ProblemError) || error.code !== 'INVALID_PAYMENT_PROOF') throw error
    const reason = reasonCodeOf(error.facts.details)
    if (presented && !MAY_LAND.has(reason)) await deletePresenter(context.db, presented)
    writeSettlementHeaders(c, { success: false, errorReason: reason ?? 'malformed' })
    return requestPayment(sale, offers, error.message)
  }
}

type Presented = { proof: string; presenter: string }

/** Whether nobody presented this proof earlier from another network address. */
async function isFirst({ context }: Sale, presented: Presented): Promise<boolean> {
  const row = { ...presented, presentedAt: context.now() }
  return (await notePresenter(context.db, row)) === presented.presenter
}

/** Sends the file to the one request that comes first, once. */
async function send(
  { c, context, file }: Sale,
  { paymentId }: Settled,
  range: ByteRange | undefined,
): Promise<Response> {
  const sending = await FileSending.begin(context, paymentId)
  if (!sending) return used(c, paymentId)
  try {
    const opened = await openSource(context, file, range)
    return deliver(c, context, { file, paymentId, opened, sending })
  } catch (error) {
    const failed = error instanceof SourceError
    const requestId = c.get('requestId')
    await settleDelivery(context, { paymentId, requestId, delivered: false, failed, sending })
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

/**
 * Not a 402 either: it may be paid. The service is not asked, so that who reads a proof on the chain
 * takes no payment from the undelivered ones.
 */
function presentedElsewhere(c: HttpContext): Response {
  const error =
    'This payment was presented from another network address before. Ask again from there, or sign in with the wallet that paid to read the file.'
  return c.json({ error }, 409)
}

function unsatisfiable(c: HttpContext, { size }: FileRow): Response {
  c.header('Content-Range', `bytes */${size ?? '*'}`)
  return c.json({ error: 'The file has no such part. Nothing was charged.' }, 416)
}

function writeSettlementHeaders(
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
