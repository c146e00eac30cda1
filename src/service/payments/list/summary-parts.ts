import { sql } from 'drizzle-orm'
import { DIRECTIONS, type Direction, type PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { tallyParts } from '../../db/fold-tallies.ts'
import { FEE_ONLY, WHOLE_ACCOUNT } from '../../db/schema/tally.ts'

/** Payments that have all of this in common: how many, what they sum up to, and what network fees they cost. Atomic units. */
export type SummaryPart = {
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
export async function readSummaryParts(db: Database, scope: Scope): Promise<SummaryPart[]> {
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
