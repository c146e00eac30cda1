import { and, asc, eq, sql } from 'drizzle-orm'
import type { WebhookFailure, WebhookState } from '#contract/webhook-endpoints.ts'
import type { Database } from '#postgres/open.ts'
import { LEASE_S } from './lease.ts'
import { webhookDelivery, webhookEndpoint } from './schema/webhook.ts'

export type WebhookEndpoint = typeof webhookEndpoint.$inferSelect
export type WebhookDelivery = typeof webhookDelivery.$inferSelect

/** How long a delivery is attempted. */
export const RETRY_DAYS = 3
/** Events that get their deliveries in one statement. */
const AT_ONCE = 1_000

const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${LEASE_S})`

/** A delivery that an earlier one of its payment waits before. */
const hasEarlier = sql`exists (
  select from service.webhook_delivery earlier where earlier.endpoint_id = webhook_delivery.endpoint_id
    and earlier.payment_id = webhook_delivery.payment_id and earlier.state = 'pending' and earlier.number < webhook_delivery.number)`
const isDue = (now: Date) =>
  sql`webhook_delivery.state = 'pending' and webhook_delivery.next_attempt_at <= ${now.toISOString()}::timestamptz and not ${hasEarlier}`

/**
 * Takes the lease of an endpoint that has something to send and that no process sends to.
 * Nothing is synced to the disk where there is none.
 */
export async function leaseWebhook(
  db: Database,
  { holder, now }: { holder: string; now: Date },
): Promise<WebhookEndpoint | undefined> {
  const free = sql`(select id from service.webhook_endpoint as e
    where enabled and (lease_until is null or lease_until < clock_timestamp()) and (
      exists (select from service.event where event.account_id = e.account_id and not event.draft and event.number > e.cursor)
      or exists (select from service.webhook_delivery where webhook_delivery.endpoint_id = e.id and ${isDue(now)}))
    order by lease_until nulls first limit 1 for update skip locked)`
  const [row] = await db
    .update(webhookEndpoint)
    .set({ holder, leaseUntil: leaseEnd })
    .where(eq(webhookEndpoint.id, free))
    .returning()
  return row
}

const isHeld = (id: string, holder: string) =>
  and(eq(webhookEndpoint.id, id), eq(webhookEndpoint.holder, holder))

/** @returns whether the lease was still held */
export async function extendWebhook(db: Database, id: string, holder: string): Promise<boolean> {
  const rows = await db
    .update(webhookEndpoint)
    .set({ leaseUntil: leaseEnd })
    .where(isHeld(id, holder))
    .returning({ id: webhookEndpoint.id })
  return rows.length > 0
}

/** The time stays: the endpoint that was served longest ago is served next. */
export async function releaseWebhook(db: Database, id: string, holder: string): Promise<void> {
  await db
    .update(webhookEndpoint)
    .set({ holder: null, leaseUntil: sql`clock_timestamp()` })
    .where(isHeld(id, holder))
}

/**
 * Writes the deliveries of events that have none yet, and moves the endpoint's cursor behind them, in one statement. The row of the endpoint is locked
 * meanwhile, so a process that lost the lease writes nothing.
 * @returns whether there may be more
 */
export async function writeDeliveries(
  db: Database,
  { id, holder, now }: { id: string; holder: string; now: Date },
): Promise<boolean> {
  const at = now.toISOString()
  const { rows } = await db.execute<{ events: number }>(sql`
    with endpoint as (
      select * from service.webhook_endpoint where id = ${id} and holder = ${holder} for update
    ), unsent as (
      select event.number, event.payment_id,
        case event.kind when 'payment' then 'payment.' || event.status else event.kind end as type
      from endpoint join service.event on event.account_id = endpoint.account_id and not event.draft and event.number > endpoint.cursor
      order by event.number limit ${AT_ONCE}
    ), wanted as (
      select unsent.*, lag(unsent.number) over (order by unsent.number) as before from unsent, endpoint
      where cardinality(endpoint.events) = 0 or unsent.type = any(endpoint.events)
    ), written as (
      insert into service.webhook_delivery (endpoint_id, id, number, previous, payment_id, type, next_attempt_at, retry_until, created_at)
      select ${id}::text, 'evt_' || number, number,
        coalesce(before, (select max(number) from service.webhook_delivery where endpoint_id = ${id})),
        payment_id, type, ${at}::timestamptz, ${at}::timestamptz + make_interval(days => ${RETRY_DAYS}), ${at}::timestamptz
      from wanted on conflict do nothing
    ), moved as (
      update service.webhook_endpoint set cursor = (select max(number) from unsent)
      where id = ${id} and exists (select from unsent)
    )
    select count(*)::int as events from unsent`)
  return rows[0]?.events === AT_ONCE
}

/** What may be sent now: of each payment the oldest one alone. */
export async function readDue(
  db: Database,
  { id, now, limit }: { id: string; now: Date; limit: number },
): Promise<WebhookDelivery[]> {
  return await db
    .select()
    .from(webhookDelivery)
    .where(and(eq(webhookDelivery.endpointId, id), isDue(now)))
    .orderBy(asc(webhookDelivery.nextAttemptAt), asc(webhookDelivery.number))
    .limit(limit)
}

export type WebhookAttempt = {
  state: WebhookState
  nextAttemptAt: Date
  body: string
  lastAttemptAt: Date
  durationMs: number
  responseStatus: number | null
  responseBody: string | null
  failure: WebhookFailure | null
}

/**
 * Writes what came of an attempt. A redelivery that was asked for while the attempt was under way has
 * changed the row: it stays due, and the log has what was answered.
 * @returns what is due next; undefined when the lease is lost, or the endpoint deleted: nothing was written
 */
export async function writeAttempt(
  db: Database,
  { endpointId, id, attempts, nextAttemptAt }: WebhookDelivery,
  { holder, attempt }: { holder: string; attempt: WebhookAttempt },
): Promise<Pick<WebhookDelivery, 'state' | 'nextAttemptAt'> | undefined> {
  const same = sql`${webhookDelivery.attempts} = ${attempts} and ${webhookDelivery.nextAttemptAt} = ${nextAttemptAt.toISOString()}::timestamptz`
  const { state, nextAttemptAt: next, ...answered } = attempt
  const [row] = await db
    .update(webhookDelivery)
    .set({
      ...answered,
      state: sql`case when ${same} then ${state} else ${webhookDelivery.state} end`,
      attempts: sql`case when ${same} then ${attempts + 1} else ${webhookDelivery.attempts} end`,
      nextAttemptAt: sql`case when ${same} then ${next.toISOString()}::timestamptz else ${webhookDelivery.nextAttemptAt} end`,
    })
    .where(
      and(
        eq(webhookDelivery.endpointId, endpointId),
        eq(webhookDelivery.id, id),
        sql`exists (select from service.webhook_endpoint where id = ${endpointId} and holder = ${holder})`,
      ),
    )
    .returning({ state: webhookDelivery.state, nextAttemptAt: webhookDelivery.nextAttemptAt })
  return row
}

/** The log reaches back so far. What is still attempted is younger. */
export const LOG_DAYS = 30

export async function removeOldDeliveries(db: Database): Promise<void> {
  await db
    .delete(webhookDelivery)
    .where(
      sql`${webhookDelivery.createdAt} < now() - make_interval(days => ${LOG_DAYS}) and ${webhookDelivery.state} <> 'pending'`,
    )
}
