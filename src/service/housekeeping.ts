import { and, eq, lt, sql } from 'drizzle-orm'
import { USAGE_PERIODS, type UsagePeriod } from '#contract/usage.ts'
import type { Database } from '#postgres/open.ts'
import type { Context } from './context/context.ts'
import { idempotency, socket, tokenPool, usage } from './db/schema/access.ts'
import { removeOldIdentifiers } from './db/payment-identifiers.ts'
import { eraseDraftTexts } from './db/payments.ts'
import { removeEndedReservations } from './db/reservations.ts'
import { deleteExpiredWalletChallenges } from './db/wallet-challenges.ts'
import { RETENTION_DAYS } from './idempotency/claim.ts'

const EVERY_MS = 3_600_000
/** Callers from many addresses leave a row each, for two minutes at most. */
const LIMITS_EVERY_MS = 60_000

/** Removes what has no meaning any more: unused limits, old idempotency keys, leases of dead processes, expired challenges, fine usage figures of long ago, reservations of funds, the text of old drafts. */
export async function sweep({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  await sweepLimits(db)
  await db
    .delete(idempotency)
    .where(lt(idempotency.createdAt, sql`now() - make_interval(days => ${RETENTION_DAYS})`))
  for (const [period, { keptDays }] of Object.entries(USAGE_PERIODS) as [
    UsagePeriod,
    { keptDays: number },
  ][]) {
    await db
      .delete(usage)
      .where(
        and(
          eq(usage.period, period),
          lt(usage.startsAt, sql`now() - make_interval(days => ${keptDays})`),
        ),
      )
  }
  await deleteExpiredWalletChallenges(db, now())
  await removeEndedReservations(db)
  await removeOldIdentifiers(db)
  await db.delete(socket).where(lt(socket.leaseUntil, sql`now()`))
  while ((await eraseDraftTexts(db)) > 0);
}

async function sweepLimits(db: Database): Promise<void> {
  await db.delete(tokenPool).where(lt(tokenPool.emptyAt, sql`now()`))
}

/** @returns stops it */
export function startHousekeeping(context: Context): () => void {
  const run = () =>
    void sweep(context).catch((error: unknown) =>
      context.log.warn({ err: error }, 'housekeeping failed'),
    )
  run()
  const timer = setInterval(run, EVERY_MS)
  const limits = setInterval(
    () =>
      void sweepLimits(context.db).catch((error: unknown) =>
        context.log.warn({ err: error }, 'housekeeping failed'),
      ),
    LIMITS_EVERY_MS,
  )
  return () => {
    clearInterval(timer)
    clearInterval(limits)
  }
}
