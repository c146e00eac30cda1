import { and, count, eq, gte, inArray, lt, lte, or, sql, type SQL } from 'drizzle-orm'
import { parseAddress } from '#contract/address.ts'
import { SEARCH_COUNTED } from '#contract/payment-search.ts'
import type { Database } from '#postgres/open.ts'
import type { Context } from '../../context/context.ts'
import { foldTallies } from '../../db/fold-tallies.ts'
import { REFUND_STATES } from '../../db/refunds.ts'
import { payment } from '../../db/schema/payment.ts'
import { ALL_DAYS, paymentChange, paymentTally, WHOLE_ACCOUNT } from '../../db/schema/tally.ts'
import { LAST_MOMENT, kindOf, LANDED, type Filters } from './filters.ts'
import { branchesOf, listed, timeOf, whereOf } from './history-where.ts'

const DAY_MS = 86_400_000

/**
 * How many payments the filters leave, exactly; of a search at most `SEARCH_COUNTED`. Counts are kept per wallet, direction, day, network, asset and status;
 * only what none of these can tell (amounts, refunds, a text, the hours at both ends of a time range) is counted row by row. One statement, so one snapshot.
 */
export async function readTotal(db: Database, filters: Filters): Promise<number> {
  const total = totalOf(filters)
  const { rows } = await db.execute<{ total: string }>(sql`select (${total})::text as total`)
  return Number(rows[0]?.total ?? 0)
}

function totalOf(filters: Filters): SQL {
  if (filters.searched) return countedToLimit(filters)
  if (!isTallied(filters)) return counted(whereOf(filters))
  if (!filters.since && !filters.until)
    return sql`${tallied(filters, { from: ALL_DAYS, to: ALL_DAYS })} - ${twice(filters)}`
  const { whole, ends, between } = daysOf(filters)
  if (!whole) return counted(whereOf(filters))
  return sql`${tallied(filters, whole)} - ${twice(filters, between)} + ${counted(and(whereOf(filters), ends))}`
}

/** Days that lie wholly within a range of time are tallied; the first and the last are counted. */
function daysOf({ since, until }: Filters): {
  whole: Days | undefined
  ends: SQL | undefined
  between: SQL | undefined
} {
  const first = since && dayOf(since)
  const last = until && dayOf(until)
  const [after, before] = [
    first === undefined ? undefined : startOf(first + 1),
    last === undefined ? undefined : startOf(last),
  ]
  const whole = {
    from: first === undefined ? 0 : first + 1,
    ...(last !== undefined && { to: last - 1 }),
  }
  return {
    whole: last !== undefined && last - 1 < whole.from ? undefined : whole,
    ends:
      or(after && lt(payment.createdAt, after), before && gte(payment.createdAt, before)) ??
      sql`false`,
    between: and(after && gte(payment.createdAt, after), before && lt(payment.createdAt, before)),
  }
}

export type DayCount = { day: number; payments: number }

/** How many payments each day has, the latest first; undefined where the tallies cannot tell. To be read in one snapshot with what is made of it. */
export async function readDays(db: Database, filters: Filters): Promise<DayCount[] | undefined> {
  const { whole, ends } = daysOf(filters)
  if (filters.by === 'landed' || !isTallied(filters) || !whole || couldMeet(filters))
    return undefined
  const { rows } = await db.execute<{ day: number; payments: string }>(sql`
    select day, sum(payments)::text as payments from (
      select ${paymentTally.day} as day, ${paymentTally.payments} as payments from ${paymentTally} where ${talliesOf(filters, whole)}
      union all
      select ${paymentChange.day}, ${weight(filters)} from ${paymentChange} where ${changesOf(filters, whole)}
      union all
      select floor(extract(epoch from ${payment.createdAt}) / 86400)::int, count(*) from ${payment} where ${and(whereOf(filters), ends)} group by 1
    ) as parts group by day order by day desc`)
  return rows.map(({ day, payments }) => ({ day, payments: Number(payments) }))
}

/** The first moment of a day; days that Postgres cannot spell begin at the last one it can. */
export function startOf(day: number): Date {
  return new Date(Math.min(day * DAY_MS, LAST_MOMENT))
}

function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS)
}

function isTallied(filters: Filters): boolean {
  const { searched, minAmount, maxAmount, drafts, wallets, type, statuses } = filters
  const refunded = REFUND_STATES.some((part) => statuses?.includes(part))
  // By party there are only tallies of what it sent and received.
  const perParty = wallets === undefined || type === 'all' || type === 'sent' || type === 'received'
  const known = !searched && minAmount === undefined && maxAmount === undefined && !refunded
  return known && !drafts && perParty && isTalliedBy(filters)
}

/** Days of tallies are those of creation; landed ones are tallied by status. */
function isTalliedBy({ by, since, until, statuses }: Filters): boolean {
  const landed: readonly string[] = LANDED
  if (by === 'created') return true
  return !since && !until && statuses?.every((status) => landed.includes(status)) === true
}

type Days = { from: number; to?: number }

function tallied(filters: Filters, days: Days): SQL {
  return sql`coalesce((select sum(${paymentTally.payments}) from ${paymentTally} where ${talliesOf(filters, days)}), 0)
    + coalesce((select sum(${weight(filters)}) from ${paymentChange} where ${changesOf(filters, days)}), 0)`
}

function talliesOf(filters: Filters, { from, to }: Days): SQL | undefined {
  return and(
    eq(paymentTally.accountId, filters.accountId),
    inArray(paymentTally.party, filters.wallets ? [...filters.wallets] : [WHOLE_ACCOUNT]),
    filters.type === 'all' ? undefined : eq(paymentTally.direction, filters.type),
    from === to
      ? eq(paymentTally.day, from)
      : and(gte(paymentTally.day, from), to === undefined ? undefined : lte(paymentTally.day, to)),
    kindOf(filters, paymentTally),
  )
}

/** Changes have a real day each: those of all days are all of them. */
function changesOf(filters: Filters, { from, to }: Days): SQL | undefined {
  const days =
    from === ALL_DAYS
      ? undefined
      : and(gte(paymentChange.day, from), to === undefined ? undefined : lte(paymentChange.day, to))
  return and(eq(paymentChange.accountId, filters.accountId), days, kindOf(filters, paymentChange))
}

/** How often a change counts: once for each side that is asked for. */
function weight({ wallets, type }: Filters): SQL {
  if (!wallets)
    return type === 'all'
      ? sql`${paymentChange.delta}`
      : sql`case when ${eq(paymentChange.direction, type)} then ${paymentChange.delta} else 0 end`
  const sent = inArray(paymentChange.sender, [...wallets])
  const received = inArray(paymentChange.recipient, [...wallets])
  const once = (side: SQL) => sql`case when ${side} then 1 else 0 end`
  const sides =
    type === 'sent'
      ? once(sent)
      : type === 'received'
        ? once(received)
        : sql`${once(sent)} + ${once(received)}`
  return sql`${paymentChange.delta} * (${sides})`
}

/** Payments between two of the wallets: of all payments they are counted on both sides, and they are neither sent nor received. */
function twice(filters: Filters, between?: SQL): SQL {
  if (!couldMeet(filters)) return sql`0`
  const { accountId, wallets = [] } = filters
  return counted(
    and(
      eq(payment.accountId, accountId),
      listed(filters),
      inArray(payment.sender, [...wallets]),
      inArray(payment.recipient, [...wallets]),
      between,
      kindOf(filters, payment),
    ),
  )
}

/** Nobody pays themselves, and no payment goes from one family of addresses to another. */
function couldMeet({ wallets = [] }: Filters): boolean {
  const families = wallets.map((wallet) => {
    const parsed = parseAddress(wallet)
    return parsed.ok ? parsed.family : undefined
  })
  return new Set(families).size < families.length
}

/**
 * The newest of each branch, read in list order: a text that half of all payments have costs no
 * more than a rare one.
 */
function countedToLimit(filters: Filters): SQL {
  const branches = branchesOf(filters, { rows: SEARCH_COUNTED, counted: true }).map(
    (where) =>
      sql`(select ${payment.id} from ${payment} where ${where} order by ${timeOf(filters)} desc, ${payment.id} desc limit ${SEARCH_COUNTED})`,
  )
  return sql`(select least(count(*), ${SEARCH_COUNTED}::int) from (${sql.join(branches, sql` union `)}) as found)`
}

function counted(where: SQL | undefined): SQL {
  return sql`(select ${count()} from ${payment} where ${where})`
}

const EVERY_MS = 1_000

/** Keeps the tallies near the present. Late is not wrong, only slower to read: what is not folded is counted where it is noted. @returns stops it */
export function startFolding({ db, log }: Context): () => Promise<void> {
  let running = Promise.resolve()
  let stopped = false
  async function fold(): Promise<void> {
    try {
      while (!stopped && (await foldTallies(db)) > 0);
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'the tallies of payments could not be folded yet')
    }
  }
  const timer = setInterval(() => {
    running = running.then(fold)
  }, EVERY_MS)
  return async () => {
    stopped = true
    clearInterval(timer)
    await running
  }
}
