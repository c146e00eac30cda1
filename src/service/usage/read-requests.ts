import { and, desc, eq, gte, isNotNull, lt, sql, type SQL } from 'drizzle-orm'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { REQUEST_LOG_DAYS } from '#contract/request-log.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Context } from '../context/context.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { requestLog } from '../db/schema/access.ts'
import { requireGrant } from '../keys/authenticate.ts'

const PAGE = 50
/** Rows that one page looks at, however few of them fit: a page costs the same in a log of any size. */
const MOST_SCANNED = 5_000

type Query = EndpointInput<'requestList'>['query']

/** The account's requests, newest first; of this process all that were answered before. */
export async function readRequests(
  context: Context,
  actor: Actor,
  query: Query,
): Promise<EndpointReply<'requestList'>> {
  requireGrant(actor, ['payment:read'])
  await context.requests.flush()
  const scanned = context.db
    .select()
    .from(requestLog)
    .where(and(...conditions(actor, query)))
    .orderBy(desc(requestLog.at), desc(requestLog.id))
    .limit(MOST_SCANNED)
    .as('scanned')
  const rows = await context.db
    .select()
    .from(scanned)
    .where(
      and(
        query.result === undefined || query.result === 'error'
          ? undefined
          : sql`${scanned.status} / 100 = ${Number(query.result[0])}`,
        query.path === undefined ? undefined : sql`starts_with(${scanned.path}, ${query.path})`,
      ),
    )
    .orderBy(desc(scanned.at), desc(scanned.id))
    .limit(PAGE + 1)
  const shown = rows.slice(0, PAGE)
  const end = rows.length > PAGE ? shown.at(-1) : await findScanEnd(context, actor, query)
  return {
    success: true,
    requests: shown.map((row) => {
      const { accountId: _, ...facts } = row
      return { ...facts, id: String(row.id), at: row.at.getTime() }
    }),
    nextCursor: end ? `${end.at.getTime()}.${end.id}` : null,
  }
}

/** The last row that a page looked at, where more follow. */
async function findScanEnd(
  context: Context,
  actor: Actor,
  query: Query,
): Promise<{ at: Date; id: bigint } | undefined> {
  const [last, following] = await context.db
    .select({ at: requestLog.at, id: requestLog.id })
    .from(requestLog)
    .where(and(...conditions(actor, query)))
    .orderBy(desc(requestLog.at), desc(requestLog.id))
    .offset(MOST_SCANNED - 1)
    .limit(2)
  return following && last
}

/** What an index answers. */
function conditions(
  { accountId }: Actor,
  { keyId, result, requestId, since, until, cursor }: Query,
): (SQL | undefined)[] {
  const [at, id] = cursor?.split('.') ?? []
  return [
    eq(requestLog.accountId, accountId),
    keyId === undefined ? undefined : eq(requestLog.keyId, keyId),
    requestId === undefined ? undefined : eq(requestLog.requestId, requestId),
    result === 'error' ? isNotNull(requestLog.code) : undefined,
    since === undefined ? undefined : gte(requestLog.at, new Date(since)),
    until === undefined ? undefined : lt(requestLog.at, new Date(until)),
    id === undefined
      ? undefined
      : sql`(${requestLog.at}, ${requestLog.id}) < (${new Date(Number(at)).toISOString()}::timestamptz, ${id}::bigint)`,
  ]
}

/** Removes requests that are past their time. */
export async function removeOldRequests(db: Database): Promise<void> {
  await deleteInBatches(db, requestLog, {
    where: lt(requestLog.at, sql`now() - make_interval(days => ${REQUEST_LOG_DAYS})`),
    order: requestLog.at,
  })
}
