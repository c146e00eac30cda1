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
  const payers = wallets
    ? list(wallets)
    : sql`(select address from service.wallet_owner where account_id = ${accountId} and released_at is null)`
  const figures = sql`direction, day, network, asset, status, payments, amount, refunds, refunded, fees`
  const looked = sql`(party in ${parties} and direction in ${list(directions)}) or (party in ${payers} and direction = ${FEE_ONLY})`
  const { rows } = await db.execute<Row>(sql`
    with changes as (select * from service.payment_change where ${days}), parts as (
      select ${figures} from service.payment_tally where ${days} and party in ${parties} and direction in ${list(directions)}
      union all select ${figures} from service.payment_tally where ${days} and party in ${payers} and direction = ${FEE_ONLY}
      union all select ${figures} from (${tallyParts(sql`changes`)}) as unfolded where ${looked}
      ${wallets ? sql`union all ${between(scope, wallets)}` : sql``}
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
