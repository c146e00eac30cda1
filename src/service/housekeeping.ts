import { and, eq, lt, sql } from 'drizzle-orm'
import { USAGE_PERIODS, type UsagePeriod } from '#contract/usage.ts'
import type { Context } from './context.ts'
import { idempotency, rateLimit, socket, usage } from './db/schema/access.ts'
import { eraseDraftTexts } from './db/payments.ts'
import { KEPT_DAYS } from './idempotency/claim.ts'

const EVERY_MS = 3_600_000

/** Removes what has no meaning any more: full buckets, old idempotency keys, leases of dead processes, fine usage figures of long ago, the text of old drafts. */
export async function sweep({ db }: Context): Promise<void> {
  await db.delete(rateLimit).where(lt(rateLimit.arrivalUs, sql`(extract(epoch from now()) * 1000000)::bigint`))
  await db.delete(idempotency).where(lt(idempotency.createdAt, sql`now() - make_interval(days => ${KEPT_DAYS})`))
  for (const [period, { keptDays }] of Object.entries(USAGE_PERIODS) as [UsagePeriod, { keptDays: number }][]) {
    await db.delete(usage).where(and(eq(usage.period, period), lt(usage.startsAt, sql`now() - make_interval(days => ${keptDays})`)))
  }
  await db.delete(socket).where(lt(socket.leaseUntil, sql`now()`))
  while ((await eraseDraftTexts(db)) > 0);
}

/** @returns stops it */
export function startHousekeeping(context: Context): () => void {
  const run = () => void sweep(context).catch((error: unknown) => context.log.warn({ err: error }, 'housekeeping failed'))
  run()
  const timer = setInterval(run, EVERY_MS)
  return () => clearInterval(timer)
}
