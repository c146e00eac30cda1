import { and, desc, eq, gte, inArray, isNull, lte, sql, type SQL } from 'drizzle-orm'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { findAsset } from '#contract/network.ts'
import type { AssetFlows, AssetSummary } from '#contract/payment-endpoints.ts'
import { PAYMENT_STATUSES } from '#contract/payment.ts'
import type { Actor, Context } from '../../context/context.ts'
import { payment } from '../../db/schema/payment.ts'
import { branchesOf, listed, seen } from './history-where.ts'
import { nativeAddress, nativeOf } from './row-fees.ts'
import { readSummaryParts, type SummaryPart } from './summary-parts.ts'

type Summary = EndpointReply<'paymentSummary'>

const DAY_MS = 24 * 60 * 60 * 1000
const TOP = 5
/** Medians and rankings are of so many of the newest payments: their cost does not grow with the history. */
const RANKED = 5_000

/**
 * Sums, counts and days of an account's payments, and the sums of the same number of days before. Days are UTC, the last one is today; sums are exact and of
 * paid payments only, fees of all. Sent and received are seen as in the list: what moves between two of the wallets, or between strangers, is neither.
 */
export async function readSummary(
  context: Context,
  actor: Actor,
  query: EndpointInput<'paymentSummary'>['query'],
): Promise<Summary> {
  const { wallets, days } = query
  const until = context.now()
  const today = Math.floor(until.getTime() / DAY_MS)
  const first = today - days + 1
  const scope = { accountId: actor.accountId, wallets, first, today }
  const [parts, ranked] = await Promise.all([
    readSummaryParts(context.db, scope),
    rankNewest(context, actor, { wallets, since: new Date(first * DAY_MS), until }),
  ])
  const current = parts.filter(({ day }) => day !== null)
  const dayNames = Array.from({ length: days }, (_, index) => first + index)
  const assets = await Promise.all(
    groupByAsset(parts).map(async (group): Promise<AssetSummary> => {
      const { network, asset } = group
      const now = group.parts.filter(({ day }) => day !== null)
      const owned = now.filter((part) => part.asset === asset && isOwn(part))
      const byDay = Map.groupBy(now, ({ day }) => day)
      return {
        network,
        asset,
        ...(await describeAsset(context, actor, group)),
        ...flowsOf(now, network, asset),
        ...countsOf(owned),
        endedCount: countIn(owned, ENDED),
        paidCount: countIn(owned, PAID),
        medianConfirmMs: ranked.medians.get(`${network} ${asset}`) ?? null,
        previous: flowsOf(
          group.parts.filter(({ day }) => day === null),
          network,
          asset,
        ),
        days: dayNames.map((day) => ({
          day: new Date(day * DAY_MS).toISOString().slice(0, 10),
          ...flowsOf(byDay.get(day) ?? [], network, asset),
        })),
      }
    }),
  )
  return {
    success: true,
    since: first * DAY_MS,
    until: until.getTime(),
    statuses: PAYMENT_STATUSES.map((status) => ({
      status,
      count: countIn(current, new Set([status])),
    })),
    assets,
    rankedPayments: ranked.payments,
    topPayers: ranked.payers,
    topResources: ranked.resources,
  }
}

const ENDED: ReadonlySet<string> = new Set([
  'confirmed',
  'finalized',
  'failed',
  'expired',
  'rolled_back',
])
const PAID: ReadonlySet<string> = new Set(['confirmed', 'finalized'])

/** What a part belongs to: fees are paid in the native asset, whatever the payment was of. */
type AssetParts = { network: string; asset: string; parts: SummaryPart[] }

/** One group for each asset that has something to show: a payment that ended, or fees. */
function groupByAsset(parts: readonly SummaryPart[]): AssetParts[] {
  const groups = new Map<string, AssetParts>()
  const add = (part: SummaryPart, asset: string) => {
    const key = `${part.network} ${asset}`
    const group = groups.get(key) ?? { network: part.network, asset, parts: [] }
    groups.set(key, group)
    group.parts.push(part)
  }
  for (const part of parts) {
    const native = nativeAddress(part.network)
    if (isOwn(part) && ENDED.has(part.status) && part.payments > 0) add(part, part.asset)
    // Below 0 where a fee was noted under one status and noted back under another.
    else if (part.fees !== 0n && part.asset === native) add(part, native)
    if (part.fees !== 0n && part.asset !== native) add(part, native)
  }
  return [...groups.values()].toSorted(
    (a, b) => compare(a.network, b.network) || compare(a.asset, b.asset),
  )
}

const isOwn = ({ direction }: SummaryPart) => direction === 'received' || direction === 'sent'
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function flowsOf(parts: readonly SummaryPart[], network: string, asset: string): AssetFlows {
  const flows = { received: 0n, refundsReceived: 0n, sent: 0n, refunded: 0n, fees: 0n }
  for (const part of parts) {
    if (asset === nativeAddress(network)) flows.fees += part.fees
    if (part.asset !== asset || !PAID.has(part.status)) continue
    if (part.direction === 'received') {
      flows.received += part.amount - part.refunded
      flows.refundsReceived += part.refunded
    }
    if (part.direction === 'sent') {
      flows.sent += part.amount - part.refunded
      flows.refunded += part.refunded
    }
  }
  return {
    receivedAtomic: flows.received.toString(),
    refundsReceivedAtomic: flows.refundsReceived.toString(),
    sentAtomic: flows.sent.toString(),
    refundedAtomic: flows.refunded.toString(),
    feesAtomic: flows.fees.toString(),
  }
}

function countsOf(parts: readonly SummaryPart[]) {
  const counts = { receivedCount: 0, refundsReceivedCount: 0, sentCount: 0, refundedCount: 0 }
  for (const { direction, status, payments, refunds } of parts) {
    if (!PAID.has(status)) continue
    if (direction === 'received') {
      counts.receivedCount += payments - refunds
      counts.refundsReceivedCount += refunds
    }
    if (direction === 'sent') {
      counts.sentCount += payments - refunds
      counts.refundedCount += refunds
    }
  }
  return counts
}

function countIn(parts: readonly SummaryPart[], statuses: ReadonlySet<string>): number {
  return parts.reduce((sum, { status, payments }) => sum + (statuses.has(status) ? payments : 0), 0)
}

/** As configured; of an asset that is configured no more, as its last payment says. */
async function describeAsset(
  { config, db }: Context,
  { accountId }: Actor,
  { network, asset, parts }: AssetParts,
): Promise<Pick<AssetSummary, 'symbol' | 'decimals'>> {
  if (asset === nativeAddress(network)) {
    const { symbol, decimals } = nativeOf(config.networks, network)
    return { symbol, decimals }
  }
  const configured = config.networks.find((each) => each.network === network)
  const known = configured && findAsset(configured, asset)
  if (known) return { symbol: known.symbol, decimals: known.decimals }
  // Of that day alone: no index finds an asset.
  const latest = Math.max(...parts.map((part) => part.latest))
  const [row] = await db
    .select({ symbol: payment.symbol, decimals: payment.decimals })
    .from(payment)
    .where(
      and(
        eq(payment.accountId, accountId),
        listed({ drafts: false }),
        gte(payment.createdAt, new Date(latest * DAY_MS)),
        eq(payment.network, network),
        eq(payment.asset, asset),
      ),
    )
    .orderBy(desc(payment.createdAt), desc(payment.id))
    .limit(1)
  return row ?? { symbol: asset, decimals: 0 }
}

type Ranked = {
  /** How many payments were looked at. */
  payments: number
  medians: ReadonlyMap<string, number>
  payers: Summary['topPayers']
  resources: Summary['topResources']
}

const paid = sql`status in ('confirmed', 'finalized')`

/** Of the newest payments of a period: how long the network took, who paid, and for what. One statement. */
async function rankNewest(
  { db }: Context,
  { accountId }: Actor,
  period: { wallets: readonly string[] | undefined; since: Date; until: Date },
): Promise<Ranked> {
  const { wallets, since, until } = period
  const within = and(gte(payment.createdAt, since), lte(payment.createdAt, until))
  const everything = {
    accountId,
    wallets,
    type: 'all',
    drafts: false,
    parties: [],
    searched: false,
    statuses: undefined,
    network: undefined,
    assets: undefined,
    by: 'created',
    since: undefined,
    until: undefined,
    minAmount: undefined,
    maxAmount: undefined,
    text: undefined,
    from: undefined,
    to: undefined,
  } as const
  // A refund is no income of its recipient, and the account's own wallets are never its customers, whichever of its wallets is looked from.
  const bought: SQL | undefined = and(
    sql`${payment.status} in ('confirmed', 'finalized')`,
    seen({ wallets, type: 'received' }),
    isNull(payment.refundOf),
    inArray(payment.direction, ['received', 'external']),
  )
  const moved = sql`(${seen({ wallets, type: 'received' })} or ${seen({ wallets, type: 'sent' })})`
  const facts = sql`${payment.id} as id, ${payment.createdAt} as created_at, ${payment.network} as network, ${payment.asset} as asset,
    ${payment.status} as status, ${payment.sender} as sender, ${payment.resource} as resource, coalesce(${bought}, false) as bought, ${moved} as moved,
    case when ${payment.confirmedAt} is not null and ${payment.broadcastAt} is not null
      then greatest(0, extract(epoch from ${payment.confirmedAt} - ${payment.broadcastAt})) * 1000 end as took`
  // Each branch is read from its index, in order, with all that is asked: joined by id, the planner would read every payment there is.
  const newest = branchesOf(everything, { rows: RANKED }).map(
    (branch) =>
      sql`(select ${facts} from ${payment} where ${and(branch, within)} order by ${payment.createdAt} desc, ${payment.id} desc limit ${RANKED})`,
  )
  const { rows } = await db.execute<{ kind: string; name: string; figure: number }>(sql`
    with newest as materialized (
      select * from (${sql.join(newest, sql` union `)}) as merged order by created_at desc, id desc limit ${RANKED}
    )
    select 'payments' as kind, '' as name, count(*)::float8 as figure from newest
    union all select 'median', network || ' ' || asset, percentile_cont(0.5) within group (order by took)::float8
      from newest where ${paid} and moved and took is not null group by network, asset
    union all (select 'payer', sender, count(*)::float8 from newest where bought group by sender order by count(*) desc, sender limit ${TOP})
    union all (select 'resource', resource, count(*)::float8 from newest where bought and resource is not null group by resource order by count(*) desc, resource limit ${TOP})`)
  const of = (kind: string) => rows.filter((row) => row.kind === kind)
  return {
    payments: of('payments')[0]?.figure ?? 0,
    medians: new Map(of('median').map(({ name, figure }) => [name, Math.round(figure)])),
    payers: of('payer').map(({ name, figure }) => ({ address: name, count: figure })),
    resources: of('resource').map(({ name, figure }) => ({ resource: name, count: figure })),
  }
}
