import { and, desc, eq, gte, inArray, isNull, lte, sql, type SQL } from 'drizzle-orm'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { findAsset } from '#contract/network.ts'
import type { AssetFlows, AssetSummary } from '#contract/payment-endpoints.ts'
import {
  PAYMENT_STATUSES,
  DIRECTIONS,
  type Direction,
  type PaymentStatus,
} from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Context } from '../../context/context.ts'
import { tallyParts } from '../../db/fold-tallies.ts'
import { payment } from '../../db/schema/payment.ts'
import { FEE_ONLY, WHOLE_ACCOUNT } from '../../db/schema/tally.ts'
import { branchesOf, listed, seen } from './history-where.ts'
import { nativeAddress } from '../paid-fee.ts'
import { readNatives } from './row-fees.ts'

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
    const { networks } = config
    const { symbol, decimals } = (await readNatives(db, { networks, accountId, ids: [network] }))(
      network,
    )
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

/** Payments that have all of this in common: how many, what they sum up to, and what network fees they cost. Atomic units. */
type SummaryPart = {
  direction: Direction | typeof FEE_ONLY
  /** Whole days since 1970, UTC; null for all of the days before the first. */
  day: number | null
  /** The last day of them. */
  latest: number
  network: string
  asset: string
  status: PaymentStatus
  payments: number
  amount: bigint
  /** How many of the payments are refunds, and their sum. */
  refunds: number
  refunded: bigint
  fees: bigint
}

type Scope = {
  accountId: string
  wallets: readonly string[] | undefined
  /** Days since 1970, both inclusive. As many days before the first are read as well, as one. */
  first: number
  today: number
}

type Row = Omit<SummaryPart, 'payments' | 'amount' | 'refunds' | 'refunded' | 'fees'> &
  Record<'payments' | 'amount' | 'refunds' | 'refunded' | 'fees', string>

/**
 * From the tallies and what is not folded into them yet, in one statement, so in one snapshot. What moves between two of the wallets is tallied on both
 * sides; it is taken off them and becomes internal. Its rows are the only ones of payments that are read.
 */
async function readSummaryParts(db: Database, scope: Scope): Promise<SummaryPart[]> {
  const { accountId, wallets, first, today } = scope
  const days = sql`account_id = ${accountId} and day between ${2 * first - today - 1} and ${today}`
  const directions = wallets ? (['sent', 'received'] as const) : DIRECTIONS
  const parties = list(wallets ?? [WHOLE_ACCOUNT])
  const figures = sql`direction, day, network, asset, status, payments, amount, refunds, refunded, fees`
  const paying = wallets
    ? sql`party in ${list(wallets)}`
    : sql`exists (select from owned where owned.address = party and day < owned.last_day)`
  const looked = sql`(party in ${parties} and direction in ${list(directions)}) or (direction = ${FEE_ONLY} and ${paying})`
  const { rows } = await db.execute<Row>(sql`
    with changes as (select * from service.payment_change where ${days}), ${wallets ? sql`` : sql`owned as (${ownedBy(accountId)}),`} parts as (
      select ${figures} from service.payment_tally where ${days} and party in ${parties} and direction in ${list(directions)}
      union all select ${figures} from service.payment_tally ${wallets ? sql`` : sql`join owned on owned.address = party and day < owned.last_day`}
        where ${days} and direction = ${FEE_ONLY} ${wallets ? sql`and ${paying}` : sql``}
      union all select ${figures} from (${tallyParts(sql`changes`)}) as unfolded where ${looked}
      union all ${wallets ? between(scope, wallets) : releaseDays(scope)}
    )
    select direction, case when day < ${first} then null else day end as day, max(day) as latest, network, asset, status,
      sum(payments)::text as payments, sum(amount)::text as amount, sum(refunds)::text as refunds, sum(refunded)::text as refunded, sum(fees)::text as fees
    from parts group by 1, 2, 4, 5, 6`)
  return rows.map(({ payments, amount, refunds, refunded, fees, ...key }) => ({
    ...key,
    payments: Number(payments),
    amount: BigInt(amount),
    refunds: Number(refunds),
    refunded: BigInt(refunded),
    fees: BigInt(fees),
  }))
}

/** Every wallet that is or was the account's, and the day of its release: what it paid until then stays in the books. As in row-fees.ts. */
function ownedBy(accountId: string) {
  return sql`
    select address, max(released_at) as released_at,
      case when bool_or(released_at is null) then 2147483647 else floor(extract(epoch from max(released_at)) / 86400)::int end as last_day
    from service.wallet_owner where account_id = ${accountId} group by address`
}

/** Tallies are of whole days: fees of the day of a release, before it, are read from their payments. */
function releaseDays({ accountId, first, today }: Scope) {
  return sql`
    select ${FEE_ONLY}::text, owned.last_day, payment.network, asset, status, 0, 0, 0, 0, coalesce(case when wallet is null then fee else paid end, 0)
    from owned
    join service.payment on payment.account_id = ${accountId} and not draft
      and payment.created_at >= to_timestamp(owned.last_day::float8 * 86400) and payment.created_at < owned.released_at
    left join service.settlement_fee on payment_id = payment.id and mode = 'received'
    where owned.last_day between ${2 * first - today - 1} and ${today} and sender <> owned.address
      and coalesce(wallet, service.payment_fee_payer(payment.id, mode, asset, sender, recipient, fee_payer)) = owned.address`
}

function between({ accountId, first, today }: Scope, wallets: readonly string[]) {
  return sql`
    select place.direction, met.day, network, asset, status, sign, sign * amount, case when refund then sign else 0 end, case when refund then sign * amount else 0 end, 0
    from (
      select floor(extract(epoch from created_at) / 86400)::int as day, network, asset, status, amount, refund_of is not null as refund
      from service.payment where account_id = ${accountId} and not draft and sender in ${list(wallets)} and recipient in ${list(wallets)}
    ) as met
    cross join (values ('sent', -1), ('received', -1), ('internal', 1)) as place(direction, sign)
    where met.day between ${2 * first - today - 1} and ${today}`
}

function list(values: readonly string[]) {
  return sql`(${sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )})`
}
