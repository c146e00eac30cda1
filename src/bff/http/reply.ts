import type { Logger } from 'pino'
import type { HttpBindings } from '@hono/node-server'
import type { Context as HonoContext } from 'hono'
import { stringifyJson } from '#contract/json.ts'
import { errorBody, ProblemError, problems } from '#contract/problem.ts'
import { isDatabaseUnavailable, isRolledBack } from '#postgres/open.ts'
import { ForwardedError } from '../upstream/problem.ts'

export function replyJson(
  c: HttpContext,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return c.body(stringifyJson(value), 200, { 'Content-Type': 'application/json', ...headers })
}

/** The one way an error leaves: what is not a problem by name says nothing but the request id. */
export function replyProblem(
  c: HttpContext,
  error: unknown,
  parts: { log: Logger; now: () => Date },
): Response {
  const problem = toProblem(error)
  const requestId = c.get('requestId')
  if (problem.code === 'INTERNAL')
    parts.log.error({ err: error, requestId, route: c.get('route') }, 'a request failed')
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (problem instanceof ForwardedError) Object.assign(headers, problem.headers)
  const { retryAfter } = problem.facts
  if (retryAfter !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfter)))
  return c.body(
    stringifyJson(errorBody(problem, requestId, parts.now().getTime())),
    problems[problem.code].status as 400,
    headers,
  )
}

function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  if (isDatabaseUnavailable(error)) {
    const operator = isRolledBack(error)
      ? 'The database of this proxy rolled a transaction back again and again, because others changed the same rows. Check its locks and its load.'
      : 'The database of this proxy does not answer. Check that it runs, that its disk has room, and DATABASE_URL.'
    return new ProblemError(
      'SERVICE_UNAVAILABLE',
      {
        message: 'The server is temporarily unavailable.',
        reason: 'database',
        details: { operator },
        retryAfter: 2,
      },
      { cause: error },
    )
  }
  return new ProblemError('INTERNAL', {}, { cause: error })
}

/** What a request carries through the app. */
export type HonoEnv = {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    /** An allowed one, or nothing. */
    origin: string | undefined
    /** The row of the table it met, for the log: paths hold ids and addresses. */
    route: string
  }
}

export type HttpContext = HonoContext<HonoEnv>
