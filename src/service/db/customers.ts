import { and, eq, sql } from 'drizzle-orm'
import type { CustomerSort } from '#contract/customer-endpoints.ts'
import type { Database } from '#postgres/open.ts'
import { customer } from './schema/tally.ts'

/** In a query of `service.payment`: what customers paid. The words of the index `payment_customer`. */
export const isCustomerPayment = sql.raw(
  `direction = 'received' and refund_of is null and not draft and status in ('confirmed', 'finalized')`,
)

/** In a query of `service.payment_change`: what customers paid, and what went back to them. */
export const isCustomerChange = sql.raw(
  `status in ('confirmed', 'finalized') and ((direction = 'received' and not refund) or (direction = 'sent' and refund))`,
)

/** One customer's place in an order: the number of payments, or Unix milliseconds. */
export type CustomerPosition = { value: number; wallet: string }

type Page = { sort: CustomerSort; after: CustomerPosition | undefined; limit: number }

/** One page of an account's customers, the highest value first: a range of one index. */
export async function findCustomers(
  db: Database,
  accountId: string,
  { sort, after, limit }: Page,
): Promise<CustomerPosition[]> {
  const column = sql.raw({ last: 'last_at', first: 'first_at', payments: 'payments' }[sort])
  const counted = sort === 'payments'
  const value = counted ? sql`${column}` : sql`(extract(epoch from ${column}) * 1000)::bigint`
  const reached =
    after &&
    (counted
      ? sql`${after.value}::bigint`
      : sql`${new Date(after.value).toISOString()}::timestamptz`)
  const { rows } = await db.execute<{ wallet: string; value: string }>(sql`
    select wallet, ${value}::text as value from service.customer
    where ${and(sql`account_id = ${accountId}`, after && sql`(${column}, wallet) < (${reached}, ${after.wallet})`)}
    order by ${column} desc, wallet desc limit ${limit}`)
  return rows.map((row) => ({ wallet: row.wallet, value: Number(row.value) }))
}

/** The customers whose address begins with a text of letters and digits, in any case. */
export async function findCustomersFrom(
  db: Database,
  accountId: string,
  { start, limit }: { start: string; limit: number },
): Promise<string[]> {
  const [lower, first] = [sql`lower(${customer.wallet})`, start.toLowerCase()]
  const rows = await db
    .select({ wallet: customer.wallet })
    .from(customer)
    // The tilde comes after every letter. A `like` would use the index only with a constant.
    .where(
      and(
        eq(customer.accountId, accountId),
        sql`${lower} ~>=~ ${first}`,
        sql`${lower} ~<~ ${`${first}~`}`,
      ),
    )
    .orderBy(sql`${lower} using ~<~`)
    .limit(limit)
  return rows.map(({ wallet }) => wallet)
}

export type CustomerTotalRow = {
  wallet: string
  network: string
  asset: string
  symbol: string
  decimals: number
  payments: number
  received: string
  refunds: number
  refunded: string
  firstAt: number | null
  lastAt: number | null
}

/**
 * What each of these wallets paid per asset, and what went back to it: folded or not, so exact in
 * every snapshot. Wallets that are no customers have no rows.
 */
export async function readCustomerTotals(
  db: Database,
  accountId: string,
  wallets: readonly string[],
): Promise<CustomerTotalRow[]> {
  if (wallets.length === 0) return []
  // Each by itself: of a list in one parameter Postgres does not know how short it is.
  const listed = sql`(${sql.join(
    wallets.map((wallet) => sql`${wallet}`),
    sql`, `,
  )})`
  const moment = (order: 'asc' | 'desc') =>
    sql`(select (extract(epoch from created_at) * 1000)::bigint::text from service.payment as paid where paid.account_id = ${accountId} and paid.sender = summed.wallet and ${isCustomerPayment} order by created_at ${sql.raw(order)} limit 1)`
  const { rows } = await db.execute<{
    [K in keyof CustomerTotalRow]: K extends 'decimals' ? number : string
  }>(sql`
    select summed.*, ${moment('asc')} as "firstAt", ${moment('desc')} as "lastAt" from (
      select wallet, network, asset, max(symbol) as symbol, max(decimals) as decimals, sum(payments)::text as payments, sum(received)::text as received,
        sum(refunds)::text as refunds, sum(refunded)::text as refunded
      from (
        select wallet, network, asset, symbol, decimals, payments, received, refunds, refunded from service.customer_total
        where account_id = ${accountId} and wallet in ${listed}
        union all
        select case when refund then recipient else sender end, network, asset, symbol, decimals,
          case when refund then 0 else delta end, case when refund then 0 else amount end, case when refund then delta else 0 end, case when refund then amount else 0 end
        from service.payment_change
        where account_id = ${accountId} and ${isCustomerChange} and case when refund then recipient else sender end in ${listed}
      ) as parts group by wallet, network, asset
      having sum(payments) <> 0 or sum(refunds) <> 0
    ) as summed order by wallet, network, asset`)
  return rows.map((row) => ({
    ...row,
    payments: Number(row.payments),
    refunds: Number(row.refunds),
    firstAt: row.firstAt === null ? null : Number(row.firstAt),
    lastAt: row.lastAt === null ? null : Number(row.lastAt),
  }))
}
