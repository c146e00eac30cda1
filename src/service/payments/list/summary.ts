import {
  and,
  count,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lte,
  or,
  sql,
  type SQL,
} from 'drizzle-orm'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import type { AssetSummary } from '#contract/payment-endpoints.ts'
import { PAYMENT_STATUSES } from '#contract/payment.ts'
import type { Actor, Context } from '../../context/context.ts'
import { payment } from '../../db/schema/payment.ts'
import { listed, seen } from './history-where.ts'

type Summary = EndpointReply<'paymentSummary'>

const DAY_MS = 24 * 60 * 60 * 1000
const TOP = 5

/**
 * Sums, counts and days of an account's payments. Days are UTC, the last one is today; sums are exact and of paid payments only. Sent and received are seen
 * as in the list: what moves between two of the wallets, or between strangers, is neither.
 */
export async function readSummary(
  context: Context,
  actor: Actor,
  query: EndpointInput<'paymentSummary'>['query'],
): Promise<Summary> {
  const { wallets, days } = query
  const until = context.now()
  const today = Math.floor(until.getTime() / DAY_MS) * DAY_MS
  const since = new Date(today - (days - 1) * DAY_MS)
  const scope: Scope = {
    where: and(
      eq(payment.accountId, actor.accountId),
      listed({ drafts: false }),
      gte(payment.createdAt, since),
      lte(payment.createdAt, until),
      wallets && or(inArray(payment.sender, wallets), inArray(payment.recipient, wallets)),
    ),
    // A refund is no income of its recipient.
    received: sql`(${seen({ wallets, type: 'received' })} and ${isNull(payment.refundOf)})`,
    sent: sql`(${seen({ wallets, type: 'sent' })})`,
  }
  const dayNames = Array.from({ length: days }, (_, index) =>
    new Date(since.getTime() + index * DAY_MS).toISOString().slice(0, 10),
  )
  const [statuses, assets, topPayers, topResources] = await Promise.all([
    countStatuses(context, scope),
    sumAssets(context, scope, dayNames),
    rankPayers(context, scope),
    rankResources(context, scope),
  ])
  return {
    success: true,
    since: since.getTime(),
    until: until.getTime(),
    statuses,
    assets,
    topPayers,
    topResources,
  }
}

type Scope = { where: SQL | undefined; received: SQL; sent: SQL }

const ended = sql`${payment.status} in ('confirmed', 'finalized', 'failed', 'expired', 'rolled_back')`
const paid = sql`${payment.status} in ('confirmed', 'finalized')`
/** The account's own wallets are never its customers, whichever of its wallets is looked from. */
const fromCustomer = sql`${payment.direction} in ('received', 'external')`

async function countStatuses({ db }: Context, { where }: Scope): Promise<Summary['statuses']> {
  const rows = await db
    .select({ status: payment.status, count: count() })
    .from(payment)
    .where(where)
    .groupBy(payment.status)
  return PAYMENT_STATUSES.map((status) => ({
    status,
    count: rows.find((row) => row.status === status)?.count ?? 0,
  }))
}

async function sumAssets(
  context: Context,
  scope: Scope,
  dayNames: readonly string[],
): Promise<AssetSummary[]> {
  const { where, received, sent } = scope
  const day = sql<string>`to_char(${payment.createdAt} at time zone 'UTC', 'YYYY-MM-DD')`
  const asset = {
    network: payment.network,
    asset: payment.asset,
    symbol: payment.symbol,
    decimals: payment.decimals,
  }
  const byAsset = [payment.network, payment.asset, payment.symbol, payment.decimals]
  const sums = {
    receivedAtomic: sql<string>`coalesce(sum(${payment.amount}) filter (where ${paid} and ${received}), 0)::text`,
    sentAtomic: sql<string>`coalesce(sum(${payment.amount}) filter (where ${paid} and ${sent}), 0)::text`,
  }
  const median = sql<
    number | null
  >`(percentile_cont(0.5) within group (order by greatest(0, extract(epoch from ${payment.confirmedAt} - ${payment.broadcastAt})) * 1000) filter (where ${paid} and ${payment.broadcastAt} is not null))::float8`
  const [totals, perDay] = await Promise.all([
    context.db
      .select({
        ...asset,
        ...sums,
        receivedCount: sql<number>`(count(*) filter (where ${paid} and ${received}))::int`,
        sentCount: sql<number>`(count(*) filter (where ${paid} and ${sent}))::int`,
        endedCount: sql<number>`(count(*) filter (where ${ended}))::int`,
        paidCount: sql<number>`(count(*) filter (where ${paid}))::int`,
        medianConfirmMs: median,
      })
      .from(payment)
      .where(and(where, ended, or(received, sent)))
      .groupBy(...byAsset)
      .orderBy(...byAsset),
    context.db
      .select({ ...asset, ...sums, day })
      .from(payment)
      .where(and(where, paid))
      .groupBy(...byAsset, sql`7`),
  ])
  return totals.map((total) => {
    const own = new Map(
      perDay
        .filter((row) => row.network === total.network && row.asset === total.asset)
        .map((row) => [row.day, row]),
    )
    return {
      ...total,
      medianConfirmMs: total.medianConfirmMs === null ? null : Math.round(total.medianConfirmMs),
      days: dayNames.map((name) => ({
        day: name,
        receivedAtomic: own.get(name)?.receivedAtomic ?? '0',
        sentAtomic: own.get(name)?.sentAtomic ?? '0',
      })),
    }
  })
}

async function rankPayers(
  { db }: Context,
  { where, received }: Scope,
): Promise<Summary['topPayers']> {
  return db
    .select({ address: payment.sender, count: count() })
    .from(payment)
    .where(and(where, paid, received, fromCustomer))
    .groupBy(payment.sender)
    .orderBy(desc(count()), payment.sender)
    .limit(TOP)
}

async function rankResources(
  { db }: Context,
  { where, received }: Scope,
): Promise<Summary['topResources']> {
  const rows = await db
    .select({ resource: payment.resource, count: count() })
    .from(payment)
    .where(and(where, paid, received, fromCustomer, isNotNull(payment.resource)))
    .groupBy(payment.resource)
    .orderBy(desc(count()), payment.resource)
    .limit(TOP)
  return rows.flatMap(({ resource, count: times }) =>
    resource === null ? [] : [{ resource, count: times }],
  )
}
