import { sql, type SQL } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
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
    const lock = await tx.execute<{ held: boolean }>(
      sql`select pg_try_advisory_xact_lock(${FOLD_LOCK}) as held`,
    )
    if (!lock.rows[0]?.held) return 0
    const folded = await tx.execute<{ folded: number }>(sql`
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
      )
      select count(*)::int as folded from taken`)
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
