import { and, eq, gt, lt, sql, type SQL } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { refusedPayer, settlementFee } from './schema/proof.ts'

/**
 * What settlements cost the operator's wallets: the budgets of a day, and the payers that made a
 * settlement fail. All times are those of the database.
 */

/** Of all callers without a key. */
const KEYLESS_SCOPE = 'keyless'
/** When fees alone are above a budget, they may have fallen by then; seconds. */
const FEES_MAY_FALL_S = 60

/** The most that settlements may cost in 24 hours on one network, native atomic units. */
export type DailyFees = { wallet: bigint; account: bigint; keyless: bigint }

export type FeeSpender = {
  network: string
  /** The wallet that pays. */
  wallet: string
  /** The account that asks; null for a caller without a key. */
  accountId: string | null
}

type FeeRequest = FeeSpender & { feeAtomic: bigint; limits: DailyFees }
export type ReservedFee = Omit<FeeRequest, 'limits'> & { paymentId: string }

/**
 * The name of the lock of an account's budget. Who signs a settlement takes it after the lock of the wallet's nonce queue and
 * calls `requireBudget` before the wallet signs: the sums are exact over all processes then, and a refusal costs no signature.
 */
export function budgetLock(request: Pick<FeeSpender, 'network' | 'accountId'>): string {
  return `settlement fees ${request.network} ${scopeOf(request)}`
}

/**
 * Reserves the most that a settlement may cost, in the transaction that has locked its budget and
 * signs it.
 */
export async function reserveFee(tx: Database, fee: ReservedFee): Promise<void> {
  const row = feeRow(fee)
  await tx
    .insert(settlementFee)
    .values(row)
    .onConflictDoUpdate({
      target: settlementFee.paymentId,
      set: { reserved: row.reserved, paid: null },
    })
}

/** The row of it. */
export function feeRow({ paymentId, network, wallet, feeAtomic, ...spender }: ReservedFee) {
  return { paymentId, network, wallet, scope: scopeOf(spender), reserved: feeAtomic }
}

/**
 * Compares the budgets with what the last 24 hours cost: what receipts show, and the most of what is
 * under way.
 * @throws `RATE_LIMIT`
 */
export async function requireBudget(db: Database, request: FeeRequest): Promise<void> {
  const { network, wallet, accountId, feeAtomic, limits } = request
  const ofWallet = sql`wallet = ${wallet}`
  const ofScope = sql`scope = ${scopeOf(request)}`
  const { rows } = await db.execute<{ ofWallet: string; ofScope: string }>(sql`
    select ${sumOf(network, ofWallet)}::text as "ofWallet", ${sumOf(network, ofScope)}::text as "ofScope"`)
  const outflows = rows[0] ?? { ofWallet: 0, ofScope: 0 }
  const keyless = accountId === null
  const budgets = [
    { budget: 'wallet', column: ofWallet, outflow: outflows.ofWallet, limit: limits.wallet },
    {
      budget: keyless ? 'keyless' : 'account',
      column: ofScope,
      outflow: outflows.ofScope,
      limit: keyless ? limits.keyless : limits.account,
    },
  ] as const
  for (const each of budgets) {
    const { budget, column, limit } = each
    const over = BigInt(each.outflow) + feeAtomic - limit
    if (over <= 0n) continue
    throw new ProblemError('RATE_LIMIT', {
      message: REFUSALS[budget],
      retryAfter: over > limit ? FEES_MAY_FALL_S : await readWait(db, { network, column, over }),
      reason: 'settlement_fee_budget',
      details: { budget, network },
    })
  }
}

const REFUSALS = {
  wallet:
    'The wallet that pays the network fee has spent its budget of 24 hours. Nothing was signed.',
  account:
    'The settlements of this account have spent its budget of network fees of 24 hours. Nothing was signed.',
  keyless:
    'Settlements without a key have spent their budget of network fees of 24 hours. Nothing was signed.',
} as const

const COST = sql`coalesce(paid, reserved)`
/** By the start of the transaction: an index cannot be searched by `clock_timestamp()`, which may differ from row to row. */
const LAST_DAY = sql`created_at > now() - interval '24 hours'`

/** An index for each column: both in one search would read the fees of all. */
function sumOf(network: string, column: SQL): SQL {
  return sql`(select coalesce(sum(${COST}), 0) from service.settlement_fee where network = ${network} and ${column} and ${LAST_DAY})`
}

/** Seconds until fees of this sum are older than a day. */
async function readWait(
  db: Database,
  { network, column, over }: { network: string; column: SQL; over: bigint },
): Promise<number> {
  const { rows } = await db.execute<{ wait: number }>(sql`
    select ceil(extract(epoch from created_at + interval '24 hours' - clock_timestamp()))::integer as wait
    from (
      select created_at, sum(${COST}) over (order by created_at, payment_id) as freed
      from service.settlement_fee where network = ${network} and ${column} and ${LAST_DAY}
    ) as spent
    where freed >= ${over.toString()}::numeric order by created_at limit 1`)
  return Math.max(1, rows[0]?.wait ?? FEES_MAY_FALL_S)
}

/** Whose budget of fees counts. */
export function scopeOf({ accountId }: Pick<FeeSpender, 'accountId'>): string {
  return accountId ?? KEYLESS_SCOPE
}

/** A settlement was signed again with a higher fee. */
export async function raiseReservedFee(
  tx: Database,
  paymentId: string,
  reserved: bigint,
): Promise<void> {
  await tx.update(settlementFee).set({ reserved }).where(eq(settlementFee.paymentId, paymentId))
}

type Receipt = { paymentId: string; signature: string }

/**
 * Whether a transaction is one that our wallet paid for: an attempt of its payment. What the payment names as reported is one only where there is no attempt:
 * after a reorganization it names what a third party sent.
 */
const isOurs = ({ paymentId, signature }: Receipt) => sql`spent.payment_id = ${paymentId} and (
  exists (select from service.attempt where payment_id = spent.payment_id and signature = ${signature})
  or (not exists (select from service.attempt where payment_id = spent.payment_id)
    and exists (select from service.payment where id = spent.payment_id and reported_signature = ${signature})))`

/** What a receipt shows, where its transaction is one that our wallet paid for. */
export async function recordFeePaid(
  db: Database,
  receipt: Receipt & { feeAtomic: bigint },
): Promise<void> {
  await db.execute(feePaid(receipt))
}

/** The same of a payment that was paid, in one statement: it is no reason to refuse its payer after all. */
export async function recordFeeOfPaid(
  tx: Database,
  receipt: Receipt & { feeAtomic: bigint },
): Promise<void> {
  await tx.execute(sql`
    with accepted as (
      update service.refused_payer set refused_until = clock_timestamp()
      where payment_id = ${receipt.paymentId} and refused_until > clock_timestamp()
    )
    ${feePaid(receipt)}`)
}

function feePaid({ feeAtomic, ...receipt }: Receipt & { feeAtomic: bigint }): SQL {
  const paid = sql`${feeAtomic.toString()}::numeric`
  return sql`update service.settlement_fee as spent set paid = ${paid}
    where ${isOurs(receipt)} and spent.paid is distinct from ${paid}`
}

/**
 * The block of the receipt is gone: what is reserved counts again, until another receipt shows the fee. What our wallet
 * paid for a revert stays where a third party’s transaction was in that block.
 */
export async function reopenFee(db: Database, receipt: Receipt): Promise<void> {
  await db.execute(
    sql`update service.settlement_fee as spent set paid = null where ${isOurs(receipt)}`,
  )
}

/** Nothing that was signed for a payment can land any more. */
export async function releaseFee(db: Database, paymentId: string): Promise<void> {
  await db.execute(
    sql`update service.settlement_fee set paid = 0 where payment_id = ${paymentId} and paid is null`,
  )
}

/** Whether our wallet pays for a settlement whose receipt nobody has read yet. */
export async function isFeeOpen(db: Database, paymentId: string): Promise<boolean> {
  const [row] = await db
    .select({ paid: settlementFee.paid })
    .from(settlementFee)
    .where(eq(settlementFee.paymentId, paymentId))
  return row?.paid === null
}

/** A payer that is refused, and until when. */
export type RefusedPayer = typeof refusedPayer.$inferSelect

/** The payer whose code made `transaction` fail is refused for a day from now. */
export async function refusePayer(
  tx: Database,
  refused: Omit<RefusedPayer, 'refusedUntil'>,
): Promise<void> {
  const until = sql`clock_timestamp() + interval '24 hours'`
  await tx
    .insert(refusedPayer)
    .values({ ...refused, refusedUntil: until })
    .onConflictDoUpdate({
      target: [refusedPayer.network, refusedPayer.payer],
      set: { ...refused, refusedUntil: until },
    })
}

/** Undefined where nothing speaks against settling for a payer. */
export async function findRefusedPayer(
  db: Database,
  { network, payer }: Pick<RefusedPayer, 'network' | 'payer'>,
): Promise<RefusedPayer | undefined> {
  const [row] = await db
    .select()
    .from(refusedPayer)
    .where(
      and(
        eq(refusedPayer.network, network),
        eq(refusedPayer.payer, payer),
        gt(refusedPayer.refusedUntil, sql`clock_timestamp()`),
      ),
    )
  return row
}

export async function removeAcceptedPayers(db: Database): Promise<void> {
  await db.delete(refusedPayer).where(lt(refusedPayer.refusedUntil, sql`clock_timestamp()`))
}
