import { and, asc, eq, gte, lt } from 'drizzle-orm'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { MOST_USAGE_ROWS, USAGE_PERIODS, type UsagePeriod } from '#contract/usage.ts'
import type { Actor, Context } from '../context/context.ts'
import { startOf } from '../context/usage-log.ts'
import { apiKey, usage } from '../db/schema/access.ts'

const PRESET_PERIODS: Readonly<Record<UsagePeriod, number>> = { minute: 60, hour: 24, day: 30 }

/** The last day that both engines read in the form in which dates are sent to them. */
const LAST_DAY = Date.UTC(9999, 11, 31)

type Query = EndpointInput<'usage'>['query']

/**
 * How many requests the account's keys made, exact for all that this process answered before.
 * @throws `INVALID_PARAMETERS` for a range that holds nothing or too much
 */
export async function readUsage(
  context: Context,
  actor: Actor,
  query: Query,
): Promise<EndpointReply<'usage'>> {
  await context.usage.flush()
  const { since, until } = rangeOf(query, context.now().getTime())
  const rows = await context.db
    .select({
      startsAt: usage.startsAt,
      keyId: usage.keyId,
      endpoint: usage.endpoint,
      status: usage.statusClass,
      requests: usage.requests,
    })
    .from(usage)
    .innerJoin(apiKey, eq(apiKey.id, usage.keyId))
    .where(
      and(
        eq(apiKey.accountId, actor.accountId),
        eq(usage.period, query.period),
        gte(usage.startsAt, new Date(since)),
        lt(usage.startsAt, new Date(until)),
        query.keyId === undefined ? undefined : eq(usage.keyId, query.keyId),
        query.endpoint === undefined ? undefined : eq(usage.endpoint, query.endpoint),
      ),
    )
    .orderBy(asc(usage.startsAt), asc(usage.keyId), asc(usage.endpoint), asc(usage.statusClass))
    .limit(MOST_USAGE_ROWS + 1)
  if (rows.length > MOST_USAGE_ROWS) {
    const message = `This range holds more than ${MOST_USAGE_ROWS} rows. Ask for a shorter one, a longer period, or one key.`
    throw new ProblemError('INVALID_PARAMETERS', {
      message,
      details: { since: 'Expected a shorter range.' },
    })
  }
  return {
    success: true,
    period: query.period,
    since,
    until,
    totalRequests: rows.reduce((sum, row) => sum + row.requests, 0),
    usage: rows.map((row) => ({ ...row, startsAt: row.startsAt.getTime() })),
  }
}

function rangeOf(query: Query, now: number): { since: number; until: number } {
  const { ms } = USAGE_PERIODS[query.period]
  const until = startOf(Math.min(query.until ?? now + 1, LAST_DAY) + ms - 1, query.period)
  const since =
    query.since === undefined
      ? until - PRESET_PERIODS[query.period] * ms
      : startOf(query.since, query.period)
  const inOrder =
    query.since === undefined || query.until === undefined || query.since < query.until
  if (since < until && inOrder) return { since: Math.max(0, since), until }
  throw new ProblemError('INVALID_PARAMETERS', {
    details: { since: 'Expected a time before until.' },
  })
}

const EVERY_MS = 5_000

/** Brings the counts, and the requests of the log, to the database now and then. @returns stops it, with a last flush: a process that is asked to stop loses none. */
export function startFlushing({ usage, requests, log }: Context): () => Promise<void> {
  const flush = async () => {
    await usage
      .flush()
      .catch((error: unknown) => log.warn({ err: error }, 'usage could not be counted yet'))
    await requests
      .flush()
      .catch((error: unknown) => log.warn({ err: error }, 'requests could not be recorded yet'))
  }
  const timer = setInterval(() => void flush(), EVERY_MS)
  return async () => {
    clearInterval(timer)
    await flush()
  }
}
