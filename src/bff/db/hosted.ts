import { and, eq, gt, inArray, lt, sql } from 'drizzle-orm'
import { parseAmount } from '#contract/amount.ts'
import type { Asset } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { hostedIntent, balanceAlert } from './schema.ts'

export type HostedRow = typeof hostedIntent.$inferSelect
type State = HostedRow['state']

const DAY_MS = 24 * 3_600_000

export async function insertIntent(db: Database, row: HostedRow): Promise<void> {
  await db.insert(hostedIntent).values(row)
}

export async function findIntent(db: Database, id: string): Promise<HostedRow | undefined> {
  return (await db.select().from(hostedIntent).where(eq(hostedIntent.id, id)))[0]
}

export type Spender = Pick<HostedRow, 'sender' | 'network'> & { asset: Asset }

/** What a payment takes from its wallet's cap: in the native currency the priority fee too, which its operator names. Atomic units. */
export function costOf(
  { amount, priorityFee }: Pick<HostedRow, 'amount' | 'priorityFee'>,
  { native, decimals }: Asset,
): bigint {
  const fee = native && priorityFee !== null ? parseAmount(priorityFee, decimals) : undefined
  return amount + (fee?.ok ? fee.atomic : 0n)
}

/** What left a wallet in the last 24 hours, or may have left it, as `costOf` counts it. */
export async function outflowToday(
  db: Pick<Database, 'select'>,
  { sender, network, asset }: Spender,
  now: Date,
): Promise<bigint> {
  const { amount, priorityFee } = hostedIntent
  const fee = sql`coalesce(${priorityFee}::numeric, 0) * 10::numeric ^ ${asset.decimals}`
  const cost = asset.native ? sql`${amount} + ${fee}` : amount
  const rows = await db
    .select({ total: sql<string>`coalesce(trunc(sum(${cost})), 0)` })
    .from(hostedIntent)
    .where(
      and(
        eq(hostedIntent.sender, sender),
        eq(hostedIntent.network, network),
        eq(hostedIntent.asset, asset.address),
        inArray(hostedIntent.state, ['sending', 'repeated', 'sent']),
        gt(hostedIntent.takenAt, new Date(now.getTime() - DAY_MS)),
      ),
    )
  return BigInt(rows[0]?.total ?? 0)
}

export type Taken =
  | { kind: 'taken'; row: HostedRow }
  | { kind: 'over_day'; left: bigint }
  | { kind: 'expired' }
  | { kind: 'gone' }

/**
 * Takes an intent: of all who try, one does, in its time, and within the cap of the day over all intents of its wallet. The wallet is locked while its sum
 * is looked at, so that two intents cannot both fit into what is left. What is refused here is refused for every request about it.
 */
export async function takeIntent(
  db: Database,
  intent: HostedRow,
  by: { signatureHash: string; rule: { asset: Asset; maxPerDay: bigint }; now: () => Date },
): Promise<Taken> {
  return db.transaction(async (tx) => {
    await tx.execute(
      sql`select pg_advisory_xact_lock(hashtext(${`hosted ${intent.network} ${intent.sender} ${intent.asset}`}))`,
    )
    const own = eq(hostedIntent.id, intent.id)
    // While this one waited, another request may have taken it: that one decides.
    const [open] = await tx.select().from(hostedIntent).where(own).for('update')
    if (open?.state !== 'open') return { kind: 'gone' }
    const now = by.now()
    const { asset, maxPerDay } = by.rule
    const left = maxPerDay - (await outflowToday(tx, { ...intent, asset }, now))
    const expired = open.expiresAt <= now
    if (expired || costOf(intent, asset) > left) {
      await tx.update(hostedIntent).set({ state: 'refused' }).where(own)
      return expired ? { kind: 'expired' } : { kind: 'over_day', left }
    }
    const [row] = await tx
      .update(hostedIntent)
      .set({ state: 'sending', signatureHash: by.signatureHash, takenAt: now })
      .where(own)
      .returning()
    return row ? { kind: 'taken', row } : { kind: 'gone' }
  })
}

export async function setSent(db: Database, id: string, paymentId: string): Promise<void> {
  await db.update(hostedIntent).set({ state: 'sent', paymentId }).where(eq(hostedIntent.id, id))
}

/** Moves an intent from one of these states; false where it has another one by now. */
export async function moveIntent(
  db: Database,
  id: string,
  { from, to }: { from: readonly State[]; to: State },
): Promise<boolean> {
  const moved = await db
    .update(hostedIntent)
    .set({ state: to })
    .where(and(eq(hostedIntent.id, id), inArray(hostedIntent.state, [...from])))
    .returning({ id: hostedIntent.id })
  return moved.length > 0
}

/** Those nobody signed in time. */
export async function deleteExpiredIntents(db: Database, now: Date): Promise<void> {
  await db
    .delete(hostedIntent)
    .where(and(eq(hostedIntent.state, 'open'), lt(hostedIntent.expiresAt, now)))
}

export type BalanceAlertRow = typeof balanceAlert.$inferSelect

export async function listAlerts(db: Database): Promise<BalanceAlertRow[]> {
  return db.select().from(balanceAlert).orderBy(balanceAlert.name, balanceAlert.network)
}

export async function setAlert(db: Database, row: BalanceAlertRow): Promise<void> {
  const { name, threshold, setBy, setAt } = row
  await db
    .insert(balanceAlert)
    .values(row)
    .onConflictDoUpdate({
      target: [balanceAlert.wallet, balanceAlert.network],
      set: { name, threshold, setBy, setAt },
    })
}

export async function removeAlert(
  db: Database,
  { wallet, network }: Pick<BalanceAlertRow, 'wallet' | 'network'>,
): Promise<void> {
  await db
    .delete(balanceAlert)
    .where(and(eq(balanceAlert.wallet, wallet), eq(balanceAlert.network, network)))
}
