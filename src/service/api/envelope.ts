import type { ErrorHandler, MiddlewareHandler, Context as HttpContext } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
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

/** Sends JSON text. Every header that is common to all answers stands already. */
export function respondJson(c: HttpContext<HttpEnv>, status: number, body: string): Response {
  c.set('answered', body)
  return c.newResponse(body, status as ContentfulStatusCode, { 'Content-Type': JSON_TYPE })
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
  if (problem.code === 'UNAUTHORIZED') c.header('WWW-Authenticate', 'Bearer')
  if (problem.facts.retryAfter !== undefined)
    c.header('Retry-After', String(problem.facts.retryAfter))
  // The rest of a refused body is not worth reading.
  if (problem.code === 'PAYLOAD_TOO_LARGE') c.header('Connection', 'close')
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

/** On every response, with Hono's defaults. They do not overwrite: the API reference has its own policy. */
export const securityHeaders = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  strictTransportSecurity: 'max-age=63072000',
  xFrameOptions: 'DENY',
  overwrite: false,
})

/** The outermost step: names the request, sets what every answer carries, writes one log line and counts. */
export function envelope(
  context: Context,
  metrics: Pick<Metrics, 'observeRequest'>,
): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const startedAt = performance.now()
    const startedOn = context.now()
    const given = c.req.header('x-request-id')
    const requestId = given && REQUEST_ID.test(given) ? given : crypto.randomUUID()
    c.set('requestId', requestId)
    c.set('log', context.log.child({ requestId }))
    c.set('route', 'unmatched')
    c.header('X-Request-Id', requestId)
    c.header('Cache-Control', 'no-store')
    await next()
    const ms = Math.round((performance.now() - startedAt) * 10) / 10
    const route = c.get('route')
    metrics.observeRequest({
      route,
      method: c.req.method,
      status: c.res.status,
      seconds: ms / 1000,
    })
    const caller = c.get('caller')
    if (caller) {
      const { accountId, keyId } = caller
      const { status } = c.res
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
    const level = c.res.status >= 500 ? 'error' : 'info'
    c.get('log')[level](
      { route, method: c.req.method, status: c.res.status, ms, accountId: caller?.accountId },
      'request',
    )
  }
}

/** The one place where a thrown error becomes an answer. What is no problem of the caller says nothing but the request id. */
export function handleError(context: Context): ErrorHandler<HttpEnv> {
  return (error, c) => {
    if (error instanceof ProblemError) return respondProblem(c, error, context.now())
    c.get('log').error({ err: error }, 'request failed')
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
