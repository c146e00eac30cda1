import { sql } from 'drizzle-orm'
import { familyOf, type NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { Claimant } from './claims.ts'
import { LAST_SECOND, LIFE_S, type NewReservation } from './reservations.ts'
import { scopeOf, type DailyFees } from './settlement-fees.ts'

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
  const asked = {
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
    select accepted, reserved, now_ms::text as "nowMs" from service.reserve_verified(${JSON.stringify(asked)}::json)`)
  const [row] = rows
  return row?.accepted ? { at: new Date(Number(row.nowMs)), reserved: row.reserved } : null
}
