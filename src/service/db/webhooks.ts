import { and, asc, eq, notInArray, sql, type SQL } from 'drizzle-orm'
import type { WebhookFailure, WebhookState } from '#contract/webhook-endpoints.ts'
import type { Database } from '#postgres/open.ts'
import { deleteInBatches } from './delete-in-batches.ts'
import { LEASE_S } from './lease.ts'
import { webhookDelivery, webhookEndpoint } from './schema/webhook.ts'

export type WebhookEndpoint = typeof webhookEndpoint.$inferSelect
export type WebhookDelivery = typeof webhookDelivery.$inferSelect
/** Where to send, and the secrets that sign. A merchant may change both at any time. */
export type WebhookTarget = Pick<WebhookEndpoint, 'id' | 'accountId' | 'url' | 'secrets'>

/** How long a delivery is attempted. */
export const RETRY_DAYS = 3
/** Events that get their deliveries in one statement. */
const AT_ONCE = 1_000

const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${LEASE_S})`

/**
 * A delivery that waits for an earlier one of its payment. Few of them are due, because one that waits is due no earlier than the one that it waits for.
 * `offset 0` keeps Postgres from joining all rows in place of those few.
 */
const hasEarlier = sql`exists (
  select from service.webhook_delivery earlier where earlier.endpoint_id = webhook_delivery.endpoint_id
    and earlier.payment_id = webhook_delivery.payment_id and earlier.state = 'pending' and earlier.number < webhook_delivery.number offset 0)`
/** The account of the event after an endpoint's cursor, in the order of accounts: one row of one index, however many events the accounts have. */
const nextEventOf = sql`(select event.account_id from service.event
  where not event.draft and (event.account_id, event.number) > (e.account_id, e.cursor) order by event.account_id, event.number limit 1)`
const isDue = (now: Date) =>
  sql`webhook_delivery.state = 'pending' and webhook_delivery.next_attempt_at <= ${now.toISOString()}::timestamptz and not ${hasEarlier}`

/**
 * Takes the lease of an endpoint that has something to send and that no process sends to, of these accounts or of all.
 * Nothing is synced to the disk where there is none.
 */
export async function leaseWebhook(
  db: Database,
  { holder, now, accounts }: { holder: string; now: Date; accounts?: readonly string[] },
): Promise<WebhookEndpoint | undefined> {
  // An id has no space.
  const of = accounts
    ? sql`account_id = any(string_to_array(${accounts.join(' ')}, ' ')) and`
    : sql``
  const free = sql`(select id from service.webhook_endpoint as e
    where ${of} enabled and (lease_until is null or lease_until < clock_timestamp()) and (
      ${nextEventOf} = e.account_id
      or (select true from service.webhook_delivery where webhook_delivery.endpoint_id = e.id and ${isDue(now)} order by next_attempt_at limit 1))
    order by lease_until nulls first limit 1 for update skip locked)`
  const [row] = await db
    .update(webhookEndpoint)
    .set({ holder, leaseUntil: leaseEnd })
    .where(eq(webhookEndpoint.id, free))
    .returning()
  return row
}

const isLeased = (id: string, holder: string) =>
  and(eq(webhookEndpoint.id, id), eq(webhookEndpoint.holder, holder))

/** @returns whether the lease was still held */
export async function extendWebhook(db: Database, id: string, holder: string): Promise<boolean> {
  const rows = await db
    .update(webhookEndpoint)
    .set({ leaseUntil: leaseEnd })
    .where(isLeased(id, holder))
    .returning({ id: webhookEndpoint.id })
  return rows.length > 0
}

/** The time stays: the endpoint that was served longest ago is served next. */
export async function releaseWebhook(db: Database, id: string, holder: string): Promise<void> {
  await db
    .update(webhookEndpoint)
    .set({ holder: null, leaseUntil: sql`clock_timestamp()` })
    .where(isLeased(id, holder))
}

/**
 * Writes the deliveries of events that have none yet, and moves the endpoint's cursor behind them, in one statement. The row of the endpoint is locked
 * meanwhile, so a process that lost the lease writes nothing. What waits for an earlier delivery of its payment is due with it.
 * @returns where to send now and with which secrets, and whether there may be more; undefined when the lease is lost, or the endpoint disabled or deleted
 */
export async function writeDeliveries(
  db: Database,
  {
    id,
    accountId,
    holder,
    now,
  }: Pick<WebhookEndpoint, 'id' | 'accountId'> & { holder: string; now: Date },
): Promise<{ target: WebhookTarget; more: boolean } | undefined> {
  const at = now.toISOString()
  const { rows } = await db.execute<
    Pick<WebhookTarget, 'url' | 'secrets'> & { events: number }
  >(sql`
    with endpoint as (
      select * from service.webhook_endpoint where id = ${id} and holder = ${holder} and enabled for update
    ), unsent as (
      select event.number, event.payment_id,
        case event.kind when 'payment' then 'payment.' || event.status else event.kind end as type
      from endpoint join service.event on event.account_id = ${accountId} and not event.draft and event.number > endpoint.cursor
      order by event.number limit ${AT_ONCE}
    ), wanted as (
      select unsent.*, lag(unsent.number) over (order by unsent.number) as before from unsent, endpoint
      where cardinality(endpoint.events) = 0 or unsent.type = any(endpoint.events)
    ), written as (
      insert into service.webhook_delivery (endpoint_id, id, number, previous, payment_id, type, next_attempt_at, retry_until, created_at)
      select ${id}::text, 'evt_' || number, number,
        coalesce(before, (select max(number) from service.webhook_delivery where endpoint_id = ${id})),
        payment_id, type, greatest(${at}::timestamptz, (
          select max(next_attempt_at) from service.webhook_delivery as earlier
          where earlier.endpoint_id = ${id} and earlier.payment_id = wanted.payment_id and earlier.state = 'pending'
        )), ${at}::timestamptz + make_interval(days => ${RETRY_DAYS}), ${at}::timestamptz
      from wanted on conflict do nothing
    ), moved as (
      update service.webhook_endpoint set cursor = (select max(number) from unsent)
      where id = ${id} and exists (select from unsent)
    )
    select endpoint.url, endpoint.secrets, (select count(*)::int from unsent) as events from endpoint`)
  const [row] = rows
  if (!row) return undefined
  const { url, secrets, events } = row
  return { target: { id, accountId, url, secrets }, more: events === AT_ONCE }
}

/** What may be sent now: of each payment the oldest one alone. `without`: the ids of those under way. */
export async function readDue(
  db: Database,
  {
    id,
    now,
    limit,
    without = [],
  }: { id: string; now: Date; limit: number; without?: readonly string[] },
): Promise<WebhookDelivery[]> {
  return await db
    .select()
    .from(webhookDelivery)
    .where(
      and(
        eq(webhookDelivery.endpointId, id),
        notInArray(webhookDelivery.id, [...without]),
        isDue(now),
      ),
    )
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
 *
 * The next deliveries of the payment are due with this one while it is attempted again, so that no look for what is due reads them; the first of them is due
 * at once when this one has ended. Rows are locked in the order of their numbers, as `redeliverRange` does.
 * @returns what is due next; undefined when the lease is lost, or the endpoint deleted: nothing was written
 */
export async function writeAttempt(
  db: Database,
  { endpointId, id, attempts, nextAttemptAt }: WebhookDelivery,
  { holder, attempt }: { holder: string; attempt: WebhookAttempt },
): Promise<Pick<WebhookDelivery, 'state' | 'nextAttemptAt'> | undefined> {
  const same = sql`attempts = ${attempts} and next_attempt_at = ${nextAttemptAt.toISOString()}::timestamptz`
  const at = sql`${attempt.lastAttemptAt.toISOString()}::timestamptz`
  const { rows } = await db.execute<{ state: WebhookState; nextAttemptAt: number }>(sql`
    with written as (
      update service.webhook_delivery set
        body = ${attempt.body}, last_attempt_at = ${at}, duration_ms = ${attempt.durationMs},
        response_status = ${attempt.responseStatus}, response_body = ${attempt.responseBody}, failure = ${attempt.failure},
        state = case when ${same} then ${attempt.state} else state end,
        attempts = case when ${same} then ${attempts + 1} else attempts end,
        next_attempt_at = case when ${same} then ${attempt.nextAttemptAt.toISOString()}::timestamptz else next_attempt_at end
      where endpoint_id = ${endpointId} and id = ${id} and exists (select from service.webhook_endpoint where id = ${endpointId} and holder = ${holder})
      returning number, payment_id, state, next_attempt_at
    ), waiting as (
      select delivery.id, case when written.state = 'pending' then written.next_attempt_at else ${at} end as due_at
      from written join service.webhook_delivery as delivery on delivery.endpoint_id = ${endpointId} and delivery.payment_id = written.payment_id
        and delivery.state = 'pending' and delivery.number > written.number
      where case when written.state = 'pending' then delivery.next_attempt_at < written.next_attempt_at
        else delivery.next_attempt_at > ${at} and not exists (
          select from service.webhook_delivery as first where first.endpoint_id = ${endpointId} and first.payment_id = written.payment_id
            and first.state = 'pending' and first.number > written.number and first.number < delivery.number) end
      order by delivery.number for update of delivery
    ), moved as (
      update service.webhook_delivery as delivery set next_attempt_at = waiting.due_at
      from waiting where delivery.endpoint_id = ${endpointId} and delivery.id = waiting.id
    )
    select state, (extract(epoch from next_attempt_at) * 1000)::float8 as "nextAttemptAt" from written`)
  const [row] = rows
  return row && { state: row.state, nextAttemptAt: new Date(row.nextAttemptAt) }
}

/** Deliveries that one statement schedules again: none holds locks for long. */
const REDELIVERED_AT_ONCE = 2_000

/** Which deliveries of an endpoint are sent again: those with these numbers, or those made in a time. */
export type RedeliverRange =
  | { from: bigint; to: bigint }
  | { since: Date; until: Date; state: WebhookState | undefined }

/**
 * Schedules deliveries again, some at a time. What waits for a delivery outside of the range is due with it.
 * @returns how many
 */
export async function redeliverRange(
  db: Database,
  { endpointId, range, now }: { endpointId: string; range: RedeliverRange; now: Date },
): Promise<number> {
  const at = sql`${now.toISOString()}::timestamptz`
  let count = 0
  for (let past = sql`true`; ;) {
    const { condition, order } = inRange(range, past)
    const { rows } = await db.execute<{ id: string; place: string | null; createdAt: string }>(sql`
      with page as (
        select id, number, created_at from service.webhook_delivery where endpoint_id = ${endpointId} and ${condition}
        order by ${order} limit ${REDELIVERED_AT_ONCE}
      ), locked as (
        select id from service.webhook_delivery where endpoint_id = ${endpointId} and id in (select id from page) order by number for update
      ), due as (
        select locked.id, greatest(${at}, (
          select max(next_attempt_at) from service.webhook_delivery as earlier
          where earlier.endpoint_id = ${endpointId} and earlier.payment_id = delivery.payment_id and earlier.state = 'pending' and earlier.number < delivery.number
        )) as at
        from locked join service.webhook_delivery as delivery on delivery.endpoint_id = ${endpointId} and delivery.id = locked.id
      ), changed as (
        -- Always another time than before: an attempt under way sees by it that it is not the last one.
        update service.webhook_delivery as delivery set state = 'pending', attempts = 0,
          next_attempt_at = case when delivery.next_attempt_at = due.at then due.at - interval '1 ms' else due.at end,
          retry_until = ${at} + make_interval(days => ${RETRY_DAYS})
        from due where delivery.endpoint_id = ${endpointId} and delivery.id = due.id
      )
      select id, number::text as place, created_at::text as "createdAt" from page order by ${order}`)
    count += rows.length
    const last = rows.at(-1)
    if (!last || rows.length < REDELIVERED_AT_ONCE) return count
    past =
      'from' in range
        ? sql`number > ${last.place}::bigint`
        : sql`(created_at, id) > (${last.createdAt}::timestamptz, ${last.id})`
  }
}

/** Each kind of range in the order of its index. */
function inRange(range: RedeliverRange, past: SQL): { condition: SQL; order: SQL } {
  if ('from' in range)
    return {
      condition: sql`number between ${range.from} and ${range.to} and ${past}`,
      order: sql`number`,
    }
  const state = range.state === undefined ? sql`` : sql`and state = ${range.state}`
  const { since, until } = range
  return {
    condition: sql`created_at >= ${since.toISOString()}::timestamptz and created_at < ${until.toISOString()}::timestamptz ${state} and ${past}`,
    order: sql`created_at, id`,
  }
}

/** Deletes an endpoint, and before it its deliveries, some at a time. Nothing is sent to it meanwhile. */
export async function deleteEndpoint(db: Database, id: string): Promise<void> {
  await db
    .update(webhookEndpoint)
    .set({ enabled: false, holder: null })
    .where(eq(webhookEndpoint.id, id))
  await deleteInBatches(db, webhookDelivery, {
    where: eq(webhookDelivery.endpointId, id),
    order: webhookDelivery.createdAt,
  })
  await db.delete(webhookEndpoint).where(eq(webhookEndpoint.id, id))
}

/** The log reaches back so far. What is still attempted is younger. */
export const LOG_DAYS = 30

export async function removeOldDeliveries(db: Database): Promise<void> {
  await deleteInBatches(db, webhookDelivery, {
    where: sql`${webhookDelivery.createdAt} < now() - make_interval(days => ${LOG_DAYS}) and ${webhookDelivery.state} <> 'pending'`,
    order: webhookDelivery.createdAt,
  })
}
