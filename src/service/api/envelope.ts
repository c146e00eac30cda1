import { randomUUID } from 'node:crypto'
import type { ErrorHandler, MiddlewareHandler, Context as HttpContext } from 'hono'
import type { Logger } from 'pino'
import * as v from 'valibot'
import { endpoints } from '#contract/endpoints.ts'
import { stringifyJson } from '#contract/json.ts'
import { ProblemError, errorBody, problems } from '#contract/problem.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { isDatabaseUnavailable, isRolledBack } from '#postgres/open.ts'
import type { Context } from '../context/context.ts'
import type { Metrics } from '../context/metrics.ts'
import type { HttpEnv } from './handler.ts'

export const JSON_TYPE = 'application/json'

/**
 * On every answer: the defaults of Hono's `secureHeaders`, a longer HSTS, and no frame. The API reference has its own policy.
 * Not by that middleware, which sets each of them on the platform's `Headers`: they cost more than all else of a small answer.
 */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=63072000',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
}

/** Adds headers to the answer of this request, or replaces them. Their names are in small letters. */
export function addHeaders(
  c: HttpContext<HttpEnv>,
  headers: Readonly<Record<Lowercase<string>, string>>,
): void {
  Object.assign(c.get('headers'), headers)
}

/** The answer with the headers that were added so far. Nobody may read or change them in it: the server would build the platform's `Headers`. */
export function respond(
  c: HttpContext<HttpEnv>,
  status: number,
  body: string | Uint8Array<ArrayBuffer> | null,
): Response {
  return new Response(body, { status, headers: c.get('headers') })
}

/** Sends JSON text. */
export function respondJson(c: HttpContext<HttpEnv>, status: number, body: string): Response {
  c.set('answered', body)
  addHeaders(c, { 'content-type': JSON_TYPE })
  return respond(c, status, body)
}

/** The log of one request. */
export function logOf(c: HttpContext<HttpEnv>, { log }: Pick<Context, 'log'>): Logger {
  return log.child({ requestId: c.get('requestId') })
}

/** The body of a problem, as it is sent and, under an idempotency key, kept. */
export function problemText(c: HttpContext<HttpEnv>, problem: ProblemError, now: Date): string {
  const body = errorBody(problem, c.get('requestId'), now.getTime())
  return stringifyJson({ ...body, ...settlementFacts(c, problem) })
}

/**
 * What the official clients read of a settlement that was not made, beside our own error: they see `success`, and without these fields they tell
 * the buyer "unknown reason".
 */
function settlementFacts(c: HttpContext<HttpEnv>, problem: ProblemError): object {
  if (c.req.path !== endpoints.facilitatorSettle.path) return {}
  return {
    errorReason: reasonCodeOf(problem.facts.details) ?? problem.code.toLowerCase(),
    errorMessage: problem.message,
    transaction: '',
    network: networkOf(c.get('requestInput')?.body),
  }
}

function networkOf(body: unknown): string {
  const result = v.safeParse(
    v.object({ paymentRequirements: v.object({ network: v.string() }) }),
    body,
  )
  return result.success ? result.output.paymentRequirements.network : ''
}

export function problemHeaders(c: HttpContext<HttpEnv>, problem: ProblemError): void {
  if (problem.code === 'UNAUTHORIZED') addHeaders(c, { 'www-authenticate': 'Bearer' })
  if (problem.facts.retryAfter !== undefined)
    addHeaders(c, { 'retry-after': String(problem.facts.retryAfter) })
  // The rest of a refused body is not worth reading.
  if (problem.code === 'PAYLOAD_TOO_LARGE') addHeaders(c, { connection: 'close' })
}

export function respondProblem(
  c: HttpContext<HttpEnv>,
  problem: ProblemError,
  now: Date,
): Response {
  problemHeaders(c, problem)
  return respondJson(c, problems[problem.code].status, problemText(c, problem, now))
}

const REQUEST_ID = /^[0-9A-Za-z_-]{8,64}$/

/** The outermost step: names the request, sets what every answer carries, writes one log line and counts. */
export function envelope(
  context: Context,
  metrics: Pick<Metrics, 'observeRequest'>,
): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const startedAt = performance.now()
    const startedOn = context.now()
    const given = c.req.header('x-request-id')
    const requestId = given && REQUEST_ID.test(given) ? given : randomUUID()
    c.set('requestId', requestId)
    c.set('route', 'unmatched')
    c.set('headers', {
      ...SECURITY_HEADERS,
      'cache-control': 'no-store',
      'x-request-id': requestId,
    })
    await next()
    const { status } = c.res
    const ms = Math.round((performance.now() - startedAt) * 10) / 10
    const route = c.get('route')
    metrics.observeRequest({
      route,
      method: c.req.method,
      status,
      seconds: ms / 1000,
    })
    const caller = c.get('caller')
    if (caller) {
      const { accountId, keyId } = caller
      context.usage.count({ keyId, endpoint: route, status, at: context.now() })
      // Reading the log is not recorded: a page that reads it would fill it.
      if (route !== 'requestList' || status >= 400)
        context.requests.note({
          accountId,
          keyId,
          requestId,
          route,
          status,
          at: startedOn,
          method: c.req.method,
          path: c.req.path,
          ...(c.get('requestInput') ?? { params: {} }),
          durationMs: Math.round(ms),
          response: c.get('answered'),
        })
    }
    const level = status >= 500 ? 'error' : 'info'
    // The line is that of `logOf`, without a logger that writes one line.
    context.log[level](
      { requestId, route, method: c.req.method, status, ms, accountId: caller?.accountId },
      'request',
    )
  }
}

/** The one place where a thrown error becomes an answer. What is no problem of the caller says nothing but the request id. */
export function handleError(context: Context): ErrorHandler<HttpEnv> {
  return (error, c) => {
    if (error instanceof ProblemError) return respondProblem(c, error, context.now())
    logOf(c, context).error({ err: error }, 'request failed')
    return respondProblem(c, toProblem(error), context.now())
  }
}

export function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  if (!isDatabaseUnavailable(error)) return new ProblemError('INTERNAL')
  const message = isRolledBack(error)
    ? 'Other requests change the same rows at this moment. Nothing is decided.'
    : 'The database does not answer now. Nothing is decided.'
  return new ProblemError('SERVICE_UNAVAILABLE', { message, retryAfter: 2 })
}
