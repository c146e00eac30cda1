import { sql } from 'drizzle-orm'
import { endpoints, type EndpointName } from '#contract/endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { parseJson } from '#contract/json.ts'
import { cutText, excerptOf, redact, redactError } from '#contract/redact.ts'
import type { Database } from '#postgres/open.ts'

/** A request with a valid key, and its response, as they were. Nothing of it is kept but what the endpoint's schemas show. */
type AnsweredRequest = {
  accountId: string
  keyId: string
  requestId: string
  at: Date
  method: string
  /** The endpoint's name, or that of another route. */
  route: string
  /** The path as it was asked. */
  path: string
  params: Readonly<Record<string, string>>
  query?: unknown
  body?: unknown
  status: number
  durationMs: number
  /** JSON text; undefined where the response is none of the API. */
  response: string | undefined
}

/** Records requests after they were answered: a request waits for nothing here and costs no statement. */
export type RequestLog = {
  note(answered: AnsweredRequest): void
  /**
   * Writes what was noted before this call. What could not be written waits for the next call, as far as there is room.
   * @throws what the database throws
   */
  flush(): Promise<void>
}

type Row = Omit<AnsweredRequest, 'route' | 'params' | 'query' | 'body' | 'response'> & {
  endpoint: string
  code: string | null
  request: string | null
  response: string | null
  skipped: number
}

/** Requests whose texts are still those of the caller. They are redacted before the next one is read from a connection. */
const MOST_UNREDACTED = 256
/** Rows of at most 5 KB each that wait for the database. */
export const MOST_WAITING_ROWS = 2_000
/** Rows that are written without waiting for the timer. */
const FULL_BATCH = 500
/** Of one key and process. Refused requests have no other bound: a key that sends too many must not fill the disk. */
export const MOST_A_MINUTE = 1_000
/** Of all keys of one account and process. */
export const MOST_OF_ACCOUNT = 2_000
/** A longer response is not parsed. */
const LONGEST_RESPONSE = 16 * 1024

type Options = {
  /** Told how many requests were not recorded since it was told last. */
  onSkipped?: (count: number) => void
  onError?: (error: unknown) => void
}

export function createRequestLog(
  db: Database,
  { onSkipped, onError = () => {} }: Options = {},
): RequestLog {
  let unredacted: AnsweredRequest[] = []
  let rows: Row[] = []
  let last = Promise.resolve()
  let minute = 0
  /** By key, and by account. */
  const ofMinute = new Map<string, number>()
  /** By key, until a row of the key tells it. A valid key is one of few. */
  const skipped = new Map<string, number>()
  let untold = 0

  function skip(keyId: string, count = 1): void {
    skipped.set(keyId, (skipped.get(keyId) ?? 0) + count)
    untold += count
  }

  /** Whether the key and its account may have another row in this minute. */
  function count({ accountId, keyId, at }: AnsweredRequest): boolean {
    const now = Math.floor(at.getTime() / 60_000)
    if (now !== minute) {
      minute = now
      ofMinute.clear()
    }
    const noted = ofMinute.get(keyId) ?? 0
    const ofAccount = ofMinute.get(accountId) ?? 0
    if (noted >= MOST_A_MINUTE || ofAccount >= MOST_OF_ACCOUNT) return false
    ofMinute.set(keyId, noted + 1)
    ofMinute.set(accountId, ofAccount + 1)
    return true
  }

  function redactAll(): void {
    const answered = unredacted
    unredacted = []
    for (const each of answered) {
      // What a caller sent must never end the process, whatever it is.
      try {
        rows.push({ ...describeRequest(each), skipped: skipped.get(each.keyId) ?? 0 })
        skipped.delete(each.keyId)
      } catch (error) {
        skip(each.keyId)
        onError(error)
      }
    }
    if (rows.length >= FULL_BATCH) flush().catch(onError)
  }

  async function write(): Promise<void> {
    if (untold > 0) onSkipped?.(untold)
    untold = 0
    redactAll()
    const batch = rows
    if (batch.length === 0) return
    rows = []
    try {
      await insertRows(db, batch)
    } catch (error) {
      // A batch that the database cannot hold would stop all later ones.
      const waiting = isRefusedText(error) ? rows : [...batch, ...rows]
      const lost = isRefusedText(error) ? batch : waiting.slice(MOST_WAITING_ROWS)
      rows = waiting.slice(0, MOST_WAITING_ROWS)
      for (const row of lost) skip(row.keyId, 1 + row.skipped)
      throw error
    }
  }

  function flush(): Promise<void> {
    last = last.then(write, write)
    return last
  }

  return {
    note(answered) {
      const full =
        unredacted.length >= MOST_UNREDACTED || unredacted.length + rows.length >= MOST_WAITING_ROWS
      if (!count(answered) || full) return skip(answered.keyId)
      unredacted.push(answered)
      // After the response was written to its connection.
      if (unredacted.length === 1) setImmediate(redactAll)
    },
    flush,
  }
}

/** Postgres' class 22: a value, not the connection, is the reason. */
function isRefusedText(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return isObject(cause) && String(cause['code']).startsWith('22')
}

/** Codes of ours, and of other facilitators: what is none is not stored. */
const CODE = /^[\w.:-]{1,100}$/

async function insertRows(db: Database, rows: readonly Row[]): Promise<void> {
  await db.execute(sql`
    insert into service.request_log (account_id, key_id, request_id, at, method, path, endpoint, status, code, duration_ms, request, response, skipped)
    select "accountId", "keyId", "requestId", at, method, path, endpoint, status, code, "durationMs", request, response, skipped
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as noted("accountId" text, "keyId" text, "requestId" text, at timestamptz, method text, path text, endpoint text, status integer, code text,
        "durationMs" integer, request text, response text, skipped integer)`)
}

function describeRequest(answered: AnsweredRequest): Omit<Row, 'skipped'> {
  const { accountId, keyId, requestId, at, method, route, status, durationMs } = answered
  const endpoint: Endpoint | undefined = Object.hasOwn(endpoints, route)
    ? endpoints[route as EndpointName]
    : undefined
  const response = describeResponse(answered, endpoint)
  return {
    accountId,
    keyId,
    requestId,
    at,
    method,
    status,
    durationMs,
    path: endpoint ? pathOf(endpoint, answered.params) : knownPath(answered.path),
    endpoint: route,
    code: response.code,
    request: requestOf(answered, endpoint) ?? null,
    response: response.text ?? null,
  }
}

function requestOf(
  { query, body }: AnsweredRequest,
  endpoint: Endpoint | undefined,
): string | undefined {
  const isEmpty = typeof query === 'object' && query !== null && Object.keys(query).length === 0
  if (isEmpty || query === undefined) return excerptOf(endpoint?.body, body)
  return excerptOf(endpoint?.query, query)
}

function describeResponse(
  { response, status }: AnsweredRequest,
  endpoint: Endpoint | undefined,
): { code: string | null; text: string | undefined } {
  const unknown = status < 400 ? null : `HTTP_${status}`
  if (response === undefined) return { code: unknown, text: undefined }
  if (response.length > LONGEST_RESPONSE)
    return { code: unknown, text: `{"…":"${response.length} characters"}` }
  const body = parseJson(response)
  if (!isObject(body)) return { code: unknown, text: undefined }
  if (isObject(body['error'])) {
    const { error } = body
    const of = [endpoint?.body, endpoint?.query, endpoint?.params]
    const shown = redactError(error, of)
    return { code: String(error['code']), text: cutText(JSON.stringify({ error: shown })) }
  }
  if (endpoint === undefined) return { code: unknown, text: undefined }
  const shown = redact(endpoint.response, body)
  const reason = isObject(shown) ? (shown['invalidReason'] ?? shown['errorReason']) : undefined
  return {
    code: typeof reason === 'string' ? (CODE.test(reason) ? reason : 'refused') : unknown,
    text: excerptOf(endpoint.response, body),
  }
}

/** The path of an endpoint with the parameters that its schema shows. */
function pathOf({ path, params }: Endpoint, given: AnsweredRequest['params']): string {
  const shown = redact(params, given)
  return path.replaceAll(/:(\w+)/g, (place, name: string) => {
    const value = isObject(shown) ? shown[name] : undefined
    return typeof value === 'string' && value === given[name] ? value : place
  })
}

const KNOWN_PARTS = new Set(
  Object.values(endpoints).flatMap(({ path }) =>
    path.split('/').filter((part) => !part.startsWith(':')),
  ),
)

/** A path without an endpoint: the parts that a path of the API has. A secret may have been pasted into the others. */
function knownPath(path: string): string {
  const parts = path.split('/').slice(0, 10)
  return parts.map((part) => (KNOWN_PARTS.has(part) ? part : '…')).join('/')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
