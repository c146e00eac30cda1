import type { Context as HttpContext } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { errorBody, problems, type ProblemError } from '#contract/problem.ts'
import { stringifyJson } from '#contract/json.ts'
import type { HttpEnv } from './env.ts'

export const JSON_TYPE = 'application/json'

/** Sends JSON text. Every header that is common to all answers stands already. */
export function respondJson(c: HttpContext<HttpEnv>, status: number, body: string): Response {
  c.set('answered', body)
  return c.newResponse(body, status as ContentfulStatusCode, { 'Content-Type': JSON_TYPE })
}

/** The body of a problem, as it is sent and, under an idempotency key, kept. */
export function problemText(c: HttpContext<HttpEnv>, problem: ProblemError, now: Date): string {
  return stringifyJson(errorBody(problem, c.get('requestId'), now.getTime()))
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
