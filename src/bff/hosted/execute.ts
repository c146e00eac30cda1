import { formatAmount } from '#contract/amount.ts'
import { LosslessNumber } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import { setRefused, setSent, type HostedRow } from '../db/hosted.ts'
import type { Visitor } from '../session/visitor.ts'
import { spender } from '../session/rule.ts'
import { ForwardedError } from '../upstream/problem.ts'
import { refuseHosted } from './refuse.ts'
import { findRule, type HostedRule } from '../config/hosted-rules.ts'

export type SendOutcome = { state: 'sent' | 'unknown'; paymentId: string | null }
type Asking = { context: ProxyContext; visitor: Visitor; requestId: string }

/** A request that was under way when the time for new ones was over has ended by then. */
const SETTLED_AFTER_MS = 2 * 60_000
/** What the clocks of this program and of the service may differ by. */
const CLOCKS_MS = 60 * 60_000
/** The service says these before it keeps a payment, and never after. */
const BEFORE_KEPT = new Set([
  'INVALID_PARAMETERS',
  'INVALID_RECIPIENT',
  'INSUFFICIENT_BALANCE',
  'SIGNING_REFUSED',
  'RATE_LIMIT',
  'CHAIN_UNAVAILABLE',
])

/** Has the service pay, for the first time. A refusal that comes before anything is kept is certain: nothing was sent. Any other answer is not. */
export async function carryOut(
  asking: Asking,
  row: HostedRow,
  rule: HostedRule,
): Promise<SendOutcome> {
  const { context, requestId } = asking
  let asked = false
  try {
    return await send(asking, { row, rule, onAsked: () => (asked = true) })
  } catch (error) {
    if (!asked || (error instanceof ForwardedError && BEFORE_KEPT.has(error.code))) {
      await setRefused(context.db, row.id)
      throw error
    }
    context.log.warn(
      { err: error, requestId },
      'a payment from a managed wallet has no certain answer yet',
    )
    return { state: 'unknown', paymentId: null }
  }
}

type Sending = { row: HostedRow; rule: HostedRule; onAsked?: () => void }

/** The idempotency key is the intent's: however often this is asked, there is one payment. */
async function send(
  { context, visitor, requestId }: Asking,
  { row, rule, onAsked }: Sending,
): Promise<SendOutcome> {
  const request = {
    body: requestOf(row, rule),
    requestId,
    idempotencyKey: `hosted-${row.id}`,
    prefer: 'respond-async',
    once: true,
  }
  const { parsed } = await context.upstream.write(
    row.refundOf === null ? 'paymentSend' : 'paymentRefund',
    request,
    () => {
      context.budgets.spend(spender(visitor), 'action')
      onAsked?.()
    },
  )
  await setSent(context.db, row.id, parsed.paymentId)
  return { state: 'sent', paymentId: parsed.paymentId }
}

/**
 * Finds out what became of a request whose answer got lost. While its time lasts it is asked again under the same key, and no refusal then says
 * anything about the first time; after that the payment is only looked for.
 */
export async function reconcile(asking: Asking, row: HostedRow): Promise<SendOutcome> {
  const { context } = asking
  const now = context.now().getTime()
  const rule = findRule(context.config.hosted, row)
  if (rule && row.expiresAt.getTime() > now) {
    try {
      return await send(asking, { row, rule })
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return { state: 'unknown', paymentId: null }
    }
  }
  const paymentId = await findMade(asking, row)
  if (paymentId !== undefined) {
    await setSent(context.db, row.id, paymentId)
    return { state: 'sent', paymentId }
  }
  if (now < row.expiresAt.getTime() + SETTLED_AFTER_MS) return { state: 'unknown', paymentId: null }
  await setRefused(context.db, row.id)
  throw refuseHosted('hosted_not_sent')
}

/** The payment that was made for an intent, among all that its wallet made around that time. */
async function findMade(
  { context, visitor, requestId }: Asking,
  row: HostedRow,
): Promise<string | undefined> {
  const [since, until] = [
    row.createdAt.getTime() - CLOCKS_MS,
    row.expiresAt.getTime() + SETTLED_AFTER_MS + CLOCKS_MS,
  ]
  const around = {
    wallets: row.sender,
    type: 'sent',
    network: row.network,
    since: String(since),
    until: String(until),
    limit: '500',
  }
  let cursor: string | null = null
  do {
    const query: Record<string, string> = cursor === null ? around : { ...around, cursor }
    const { parsed } = await context.upstream.read('paymentList', { query, requestId }, () =>
      context.budgets.spend(spender(visitor), 'tail'),
    )
    const found = parsed.payments.find(({ metadata }) => metadata?.['hostedIntent'] === row.id)
    if (found) return found.paymentId
    cursor = parsed.nextCursor
  } while (cursor !== null)
  return undefined
}

function requestOf(row: HostedRow, { asset }: HostedRule): Record<string, unknown> {
  const amount = new LosslessNumber(formatAmount(row.amount, asset.decimals))
  const fee = row.priorityFee !== null && { priorityFee: new LosslessNumber(row.priorityFee) }
  if (row.refundOf !== null)
    return {
      paymentId: row.refundOf,
      walletAddress: row.sender,
      amount,
      ...(row.description !== null && { reason: row.description }),
      ...fee,
      metadata: { hostedIntent: row.id },
    }
  const metadata = {
    ...(row.description !== null && { description: row.description }),
    ...(row.reference !== null && { referenceId: row.reference }),
    hostedIntent: row.id,
  }
  return {
    walletAddress: row.sender,
    recipientAddress: row.recipient,
    amount,
    network: row.network,
    ...(!asset.native && { asset: asset.address }),
    ...fee,
    ...(row.resource !== null && { resource: row.resource }),
    metadata,
  }
}
