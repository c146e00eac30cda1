import { and, desc, eq, gte, lte } from 'drizzle-orm'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { createId } from '#contract/id.ts'
import type { Actor, Context } from '../context/context.ts'
import { webhookDelivery } from '../db/schema/webhook.ts'
import { RETRY_DAYS, type WebhookDelivery } from '../db/webhooks.ts'
import { announceWebhooks } from './announce.ts'
import { readOwnWebhook } from './endpoints.ts'

const DAY_MS = 86_400_000

/** What was sent to a webhook, and what it answered last. @throws `NOT_FOUND` */
export async function listDeliveries(
  context: Context,
  actor: Actor,
  { params: { id }, query: { state, limit, offset } }: EndpointInput<'webhookDeliveries'>,
): Promise<EndpointReply<'webhookDeliveries'>> {
  await readOwnWebhook(context, actor, id)
  const rows = await context.db
    .select()
    .from(webhookDelivery)
    .where(
      and(
        eq(webhookDelivery.endpointId, id),
        ...(state === undefined ? [] : [eq(webhookDelivery.state, state)]),
      ),
    )
    .orderBy(
      desc(webhookDelivery.createdAt),
      desc(webhookDelivery.number),
      desc(webhookDelivery.id),
    )
    .limit(limit)
    .offset(offset)
  return { success: true, deliveries: rows.map(describe) }
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

/** Each delivery keeps its id and what it says; earlier ones of a payment go first. @throws `NOT_FOUND` */
export async function redeliver(
  context: Context,
  actor: Actor,
  { params: { id }, body: { from, to } }: EndpointInput<'webhookRedeliver'>,
): Promise<EndpointReply<'webhookRedeliver'>> {
  await readOwnWebhook(context, actor, id)
  const rows = await context.db
    .update(webhookDelivery)
    .set({ state: 'pending', attempts: 0, ...schedule(context) })
    .where(
      and(
        eq(webhookDelivery.endpointId, id),
        gte(webhookDelivery.number, BigInt(from)),
        lte(webhookDelivery.number, BigInt(to)),
      ),
    )
    .returning({ id: webhookDelivery.id })
  await announceWebhooks(context.db)
  return { success: true, deliveries: rows.length }
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
