import { sql, type SQL } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { isCustomerChange, isCustomerPayment } from './customers.ts'
import { ALL_DAYS, FEE_ONLY, WHOLE_ACCOUNT } from './schema/tally.ts'

/** One process folds at a time; our number among Postgres' advisory locks. */
const FOLD_LOCK = 7_214_003
const AT_ONCE = 20_000

/**
 * Adds recorded changes to the tallies, in one transaction: a reader sees them in one table or the
 * other.
 * @returns how many were folded; also 0 while another process folds
 */
export async function foldTallies(db: Database): Promise<number> {
  const waiting = await db.execute<{ waiting: boolean }>(
    sql`select exists (select 1 from service.payment_change) as waiting`,
  )
  if (!waiting.rows[0]?.waiting) return 0
  return db.transaction(async (tx) => {
    const lock = await tx.execute<{ acquired: boolean }>(
      sql`select pg_try_advisory_xact_lock(${FOLD_LOCK}) as acquired`,
    )
    if (!lock.rows[0]?.acquired) return 0
    const folded = await tx.execute<{ folded: number; customers: string }>(sql`
      with taken as (
        delete from service.payment_change where id in (select id from service.payment_change order by id limit ${AT_ONCE}) returning *
      ), parts as (${tallyParts(sql`taken`)}), added as (
        insert into service.payment_tally as kept (account_id, party, direction, day, network, asset, status, payments, amount, refunds, refunded, fees)
        select account_id, party, direction, place.day, network, asset, status, sum(payments), sum(amount), sum(refunds), sum(refunded), sum(fees)
        from parts cross join lateral (values (parts.day), (${ALL_DAYS}::int)) as place(day)
        group by account_id, party, direction, place.day, network, asset, status
        having sum(payments) <> 0 or sum(amount) <> 0 or sum(refunds) <> 0 or sum(refunded) <> 0 or sum(fees) <> 0
        on conflict (account_id, party, direction, day, network, asset, status) do update set
          payments = kept.payments + excluded.payments, amount = kept.amount + excluded.amount,
          refunds = kept.refunds + excluded.refunds, refunded = kept.refunded + excluded.refunded, fees = kept.fees + excluded.fees
      ), paid as (
        select account_id, case when refund then recipient else sender end as wallet, network, asset, symbol, decimals, refund, delta, amount
        from taken where ${isCustomerChange}
      ), totalled as (
        insert into service.customer_total as kept (account_id, wallet, network, asset, symbol, decimals, payments, received, refunds, refunded)
        select account_id, wallet, network, asset, max(symbol), max(decimals),
          coalesce(sum(delta) filter (where not refund), 0), coalesce(sum(amount) filter (where not refund), 0),
          coalesce(sum(delta) filter (where refund), 0), coalesce(sum(amount) filter (where refund), 0)
        from paid group by account_id, wallet, network, asset
        on conflict (account_id, wallet, network, asset) do update set symbol = excluded.symbol,
          payments = kept.payments + excluded.payments, received = kept.received + excluded.received,
          refunds = kept.refunds + excluded.refunds, refunded = kept.refunded + excluded.refunded
      )
      select (select count(*)::int from taken) as folded,
        (select coalesce(json_agg(touched), '[]')::text from (select distinct account_id, wallet from paid) as touched) as customers`)
    await foldCustomers(tx, folded.rows[0]?.customers ?? '[]')
    // Most payers pay once, and their payment passes through several states: empty tallies would be
    // most of the table.
    await tx.execute(sql`delete from service.payment_tally where payments = 0 and fees = 0`)
    return folded.rows[0]?.folded ?? 0
  })
}

/**
 * Recorded changes in the form of tallies: what each adds to the account, to its sender, to its recipient, and to another wallet that paid the network fee.
 * @param changes rows of `payment_change`
 */
export function tallyParts(changes: SQL): SQL {
  const counted = sql`delta as payments, amount, case when refund then delta else 0 end as refunds, case when refund then amount else 0 end as refunded`
  return sql`
    select account_id, ${WHOLE_ACCOUNT}::text as party, direction, day, network, asset, status, ${counted},
      case when fee_payer = sender and direction in ('sent', 'internal') then fee else 0 end as fees from ${changes}
    union all select account_id, sender, 'sent', day, network, asset, status, ${counted}, case when fee_payer = sender then fee else 0 end from ${changes}
    union all select account_id, recipient, 'received', day, network, asset, status, ${counted}, 0 from ${changes}
    union all select account_id, fee_payer, ${FEE_ONLY}, day, network, asset, status, 0, 0, 0, 0, fee from ${changes} where fee_payer <> sender and fee <> 0`
}

/**
 * Writes again what the list of customers is ordered by. A customer whose last payment was rolled back
 * goes. Who has payments that are not folded yet is among the touched ones of a later call.
 * @param touched accounts and wallets, as JSON
 */
async function foldCustomers(tx: Database, touched: string): Promise<void> {
  if (touched === '[]') return
  await tx.execute(sql`
    with touched as (
      select account_id, wallet from json_to_recordset(${touched}::json) as each(account_id text, wallet text)
    ), seen as (
      select touched.account_id, touched.wallet,
        (select sum(payments) from service.customer_total as total where total.account_id = touched.account_id and total.wallet = touched.wallet) as payments,
        ${customerMoment('asc')} as first_at, ${customerMoment('desc')} as last_at
      from touched
    ), gone as (
      delete from service.customer using seen
      where customer.account_id = seen.account_id and customer.wallet = seen.wallet and (seen.payments <= 0 or seen.first_at is null)
    )
    insert into service.customer (account_id, wallet, payments, first_at, last_at)
    select account_id, wallet, payments, first_at, last_at from seen where payments > 0 and first_at is not null
    on conflict (account_id, wallet) do update set payments = excluded.payments, first_at = excluded.first_at, last_at = excluded.last_at`)
  await tx.execute(sql`delete from service.customer_total where payments = 0 and refunds = 0`)
}

/** When the first or the last paid payment of a touched customer was created: one look into an index. */
function customerMoment(order: 'asc' | 'desc') {
  return sql`(select created_at from service.payment as paid where paid.account_id = touched.account_id and paid.sender = touched.wallet
    and ${isCustomerPayment} order by created_at ${sql.raw(order)} limit 1)`
}
