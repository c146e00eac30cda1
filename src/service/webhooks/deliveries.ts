import { and, desc, eq, gte, lt } from 'drizzle-orm'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { createId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { WebhookState } from '#contract/webhook-endpoints.ts'
import type { Actor, Context } from '../context/context.ts'
import { webhookDelivery } from '../db/schema/webhook.ts'
import {
  redeliverRange,
  RETRY_DAYS,
  type RedeliverRange,
  type WebhookDelivery,
} from '../db/webhooks.ts'
import { announceWebhooks } from './deliver.ts'
import { readOwnWebhook } from './endpoints.ts'

const DAY_MS = 86_400_000

/** What was sent to a webhook, and what it answered last. @throws `NOT_FOUND` */
export async function listDeliveries(
  context: Context,
  actor: Actor,
  { params: { id }, query: { limit, offset, ...span } }: EndpointInput<'webhookDeliveries'>,
): Promise<EndpointReply<'webhookDeliveries'>> {
  await readOwnWebhook(context, actor, id)
  const condition = isWithin(id, span)
  const counted = span.since !== undefined || span.until !== undefined
  const [rows, total] = await Promise.all([
    context.db
      .select()
      .from(webhookDelivery)
      .where(condition)
      .orderBy(
        desc(webhookDelivery.createdAt),
        desc(webhookDelivery.number),
        desc(webhookDelivery.id),
      )
      .limit(limit)
      .offset(offset),
    counted ? context.db.$count(webhookDelivery, condition) : null,
  ])
  return { success: true, deliveries: rows.map(describe), total }
}

type Span = {
  state?: WebhookState | undefined
  since?: number | undefined
  until?: number | undefined
}

/** The deliveries of a webhook that were made in a time. */
function isWithin(id: string, { state, since, until }: Span) {
  return and(
    eq(webhookDelivery.endpointId, id),
    state === undefined ? undefined : eq(webhookDelivery.state, state),
    since === undefined ? undefined : gte(webhookDelivery.createdAt, new Date(since)),
    until === undefined ? undefined : lt(webhookDelivery.createdAt, new Date(until)),
  )
}

/** An event of no payment, attempted like every other one. @throws `NOT_FOUND` */
export async function testWebhook(
  context: Context,
  actor: Actor,
  id: string,
): Promise<EndpointReply<'webhookTest'>> {
  const endpoint = await readOwnWebhook(context, actor, id)
  const testId = createId('test')
  const [row] = await context.db
    .insert(webhookDelivery)
    .values({
      endpointId: endpoint.id,
      id: testId,
      paymentId: testId,
      type: 'test',
      ...schedule(context),
      createdAt: context.now(),
    })
    .returning()
  if (!row) throw new Error('A test event was not inserted.')
  await announceWebhooks(context.db)
  return { success: true, delivery: describe(row) }
}

/**
 * Each delivery keeps its id and what it says; earlier ones of a payment go first.
 * @throws `NOT_FOUND`, `INVALID_PARAMETERS` where the body names no range, or two
 */
export async function redeliver(
  context: Context,
  actor: Actor,
  { params: { id }, body }: EndpointInput<'webhookRedeliver'>,
): Promise<EndpointReply<'webhookRedeliver'>> {
  const range = readRange(body)
  await readOwnWebhook(context, actor, id)
  const { db, now } = context
  const deliveries = await redeliverRange(db, { endpointId: id, range, now: now() })
  await announceWebhooks(db)
  return { success: true, deliveries }
}

const RANGES = 'Expected from and to, or since and until'

/** @throws `INVALID_PARAMETERS` where the body names no range, or two */
function readRange({
  from,
  to,
  since,
  until,
  state,
}: EndpointInput<'webhookRedeliver'>['body']): RedeliverRange {
  const cursors = from !== undefined || to !== undefined
  const times = since !== undefined || until !== undefined
  const refuse = (field: string, received: string) =>
    new ProblemError('INVALID_PARAMETERS', {
      details: { [field]: `${RANGES}, received ${received}.` },
    })
  if (cursors && times) throw refuse(since === undefined ? 'until' : 'since', 'both')
  if (cursors && state !== undefined) throw refuse('state', 'cursors with a state')
  if (times) {
    if (since === undefined) throw refuse('since', 'nothing')
    if (until === undefined) throw refuse('until', 'nothing')
    return { since: new Date(since), until: new Date(until), state }
  }
  if (from === undefined) throw refuse('from', 'nothing')
  if (to === undefined) throw refuse('to', 'nothing')
  return { from: BigInt(from), to: BigInt(to) }
}

function schedule({ now }: Context) {
  const nextAttemptAt = now()
  return {
    nextAttemptAt,
    retryUntil: new Date(nextAttemptAt.getTime() + RETRY_DAYS * DAY_MS),
  }
}

function describe(row: WebhookDelivery): EndpointReply<'webhookTest'>['delivery'] {
  return {
    id: row.id,
    cursor: row.number === null ? null : String(row.number),
    type: row.type,
    paymentId: row.number === null ? null : row.paymentId,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.createdAt.getTime(),
    lastAttemptAt: row.lastAttemptAt?.getTime() ?? null,
    nextAttemptAt: row.state === 'pending' ? row.nextAttemptAt.getTime() : null,
    failure: row.failure,
    request: row.body,
    response:
      row.responseStatus === null
        ? null
        : {
            status: row.responseStatus,
            body: row.responseBody ?? '',
            durationMs: row.durationMs ?? 0,
          },
  }
}
