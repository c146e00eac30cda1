import { lt, sql } from 'drizzle-orm'
import { familyOf, type NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { Claimant } from './claims.ts'
import { deleteInBatches } from './delete-in-batches.ts'
import { reservation } from './schema/proof.ts'
import { scopeOf, type DailyFees } from './settlement-fees.ts'

/** Funds of one payer. */
type Pool = { network: string; payer: string; asset: string }

/**
 * `availableAtomic`: what the payer could move at the end of the block of `height`, in atomic units. `validBefore`: Unix seconds at which the signature ends.
 */
type NewReservation = Pool & {
  key: string
  amountAtomic: bigint
  availableAtomic: bigint
  height: number
  validBefore: bigint
}

/** Longest life of a reservation, in seconds. */
const LIFE_S = 120
/** The last second of the year 9999, the last that a row can hold. */
const LAST_SECOND = 253_402_300_799n

/**
 * Reserves funds for one authorization, beside all others of the same payer and asset; one that has its reservation keeps it, for as long as it was first
 * given. What was settled by the block of the balance is in the balance, what failed is free again, and what is being settled counts however long it takes.
 * @returns what the others hold, in atomic units, where too little is left for this one; null when it is reserved
 */
export async function reserve(db: Database, reservation: NewReservation): Promise<bigint | null> {
  const { network, payer, asset, key, amountAtomic, availableAtomic, height, validBefore } =
    reservation
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

/** An authorization that its chain would execute. Amounts are atomic units, times Unix seconds. */
export type VerifiedFunds = NewReservation & {
  network: NetworkId
  payee: string
  accountId: string
  keyless: boolean
  claimScope: Claimant['scope']
  /** The time of the newest block. */
  headS: bigint
  validAfter: bigint
  /** An authorization that ends sooner than this is refused. */
  leastLeftS: bigint
  /** The wallet that would pay this fee. */
  wallet: string
  feeAtomic: bigint
  limits: DailyFees
}

/**
 * Reserves the funds of an authorization, in one statement that waits for no disk, where nothing in
 * the database is against it: it is valid by the later of the block's and the database's time, its
 * payee belongs to no other account, no claim used it, its payer is not refused, the budgets cover the
 * fee, and the payer holds it beside all that is reserved.
 * @returns the database's time, and whether the funds are reserved or promised to others already; null
 * where anything else is against it, which the steps tell by name
 */
export async function reserveVerified(
  db: Database,
  funds: VerifiedFunds,
): Promise<{ at: Date; reserved: boolean } | null> {
  const { network, limits, keyless, accountId, validBefore } = funds
  const end = validBefore > LAST_SECOND ? LAST_SECOND : validBefore
  const request = {
    network,
    family: familyOf(network),
    payee: funds.payee,
    account_id: accountId,
    scope: funds.claimScope,
    keyless,
    key: funds.key,
    payer: funds.payer,
    asset: funds.asset,
    amount: funds.amountAtomic.toString(),
    available: funds.availableAtomic.toString(),
    height: funds.height,
    head_s: funds.headS.toString(),
    valid_after: funds.validAfter.toString(),
    valid_before: end.toString(),
    least_left_s: Number(funds.leastLeftS),
    wallet: funds.wallet,
    fee_scope: scopeOf({ accountId: keyless ? null : accountId }),
    fee: funds.feeAtomic.toString(),
    wallet_limit: limits.wallet.toString(),
    scope_limit: (keyless ? limits.keyless : limits.account).toString(),
    life_s: LIFE_S,
  }
  const { rows } = await db.execute<{ accepted: boolean; reserved: boolean; nowMs: string }>(sql`
    select accepted, reserved, now_ms::text as "nowMs" from service.reserve_verified(${JSON.stringify(request)}::json)`)
  const [row] = rows
  return row?.accepted ? { at: new Date(Number(row.nowMs)), reserved: row.reserved } : null
}
