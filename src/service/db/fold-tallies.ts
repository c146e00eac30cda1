import { sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { ALL_DAYS, WHOLE_ACCOUNT } from './schema/tally.ts'

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
      ), parts as (
        select account_id, ${WHOLE_ACCOUNT}::text as party, direction, day, network, asset, status, delta from taken
        union all select account_id, sender, 'sent', day, network, asset, status, delta from taken
        union all select account_id, recipient, 'received', day, network, asset, status, delta from taken
      ), added as (
        insert into service.payment_tally as kept (account_id, party, direction, day, network, asset, status, payments)
        select account_id, party, direction, place.day, network, asset, status, sum(delta)
        from parts cross join lateral (values (parts.day), (${ALL_DAYS}::int)) as place(day)
        group by account_id, party, direction, place.day, network, asset, status
        having sum(delta) <> 0
        on conflict (account_id, party, direction, day, network, asset, status) do update set payments = kept.payments + excluded.payments
      )
      select count(*)::int as folded from taken`)
    // Most payers pay once, and their payment passes through several states: empty tallies would be
    // most of the table.
    await tx.execute(sql`delete from service.payment_tally where payments = 0`)
    return folded.rows[0]?.folded ?? 0
  })
}
