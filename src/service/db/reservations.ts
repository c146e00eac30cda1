import { lt, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { deleteInBatches } from './delete-in-batches.ts'
import { reservation } from './schema/proof.ts'

/** Funds of one payer. */
type Pool = { network: string; payer: string; asset: string }

/**
 * `availableAtomic`: what the payer could move at the end of the block of `height`, in atomic units. `validBefore`: Unix seconds at which the signature ends.
 */
export type NewReservation = Pool & {
  key: string
  amountAtomic: bigint
  availableAtomic: bigint
  height: number
  validBefore: bigint
}

/** Longest life of a reservation, in seconds. */
export const LIFE_S = 120
/** The last second of the year 9999, the last that a row can hold. */
export const LAST_SECOND = 253_402_300_799n

/**
 * Reserves funds for one authorization, beside all others of the same payer and asset; one that has its reservation keeps it, for as long as it was first
 * given. What was settled by the block of the balance is in the balance, what failed is free again, and what is being settled counts however long it takes.
 * @returns what the others hold, in atomic units, where too little is left for this one; null when it is reserved
 */
export async function reserve(db: Database, wanted: NewReservation): Promise<bigint | null> {
  const { network, payer, asset, key, amountAtomic, availableAtomic, height, validBefore } = wanted
  const end = Number(validBefore > LAST_SECOND ? LAST_SECOND : validBefore)
  return db.transaction(async (tx) => {
    await tx.execute(
      sql`select pg_advisory_xact_lock(hashtextextended(${`reservation ${network} ${payer} ${asset}`}, 0))`,
    )
    const { rows } = await tx.execute<{ own: boolean; others: string }>(sql`
      select coalesce(bool_or(held.key = ${key}), false) as own, coalesce(sum(held.amount) filter (where held.key <> ${key}), 0)::text as others
      from service.reservation as held
      left join lateral (
        select bool_or(paid.status = 'pending' or paid.status = 'rolled_back') as open,
          bool_or(paid.status in ('failed', 'expired') or paid.block_height <= ${height}) as over
        from service.claim join service.payment as paid on paid.id = claim.payment_id
        where claim.network = held.network and claim.key = held.key
      ) as settlement on true
      where held.network = ${network} and held.payer = ${payer} and held.asset = ${asset}
        and (held.expires_at > clock_timestamp() or coalesce(settlement.open, false)) and not coalesce(settlement.over, false)`)
    const others = BigInt(rows[0]?.others ?? 0)
    if (others + amountAtomic > availableAtomic) return others
    if (!rows[0]?.own)
      await tx.execute(sql`
        insert into service.reservation (network, payer, asset, key, amount, expires_at)
        values (${network}, ${payer}, ${asset}, ${key}, ${amountAtomic.toString()}::numeric,
          least(to_timestamp(${end}), clock_timestamp() + make_interval(secs => ${LIFE_S})))
        on conflict (network, payer, asset, key) do update set amount = excluded.amount, expires_at = excluded.expires_at`)
    return null
  })
}

/** Removes reservations that ended long ago: those of the last day may belong to settlements that are still pending. */
export async function removeEndedReservations(db: Database): Promise<void> {
  await deleteInBatches(db, reservation, {
    where: lt(reservation.expiresAt, sql`now() - interval '1 day'`),
    order: reservation.expiresAt,
  })
}
