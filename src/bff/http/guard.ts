import type { Hono } from 'hono'
import { REQUESTED_BY } from '#contract/dashboard-endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import type { HonoEnv } from './reply.ts'

/** What a browser says of where a request comes from. Pages cannot write these headers themselves. */
export type RequestFacts = {
  method: string
  origin: string | undefined
  secFetchSite: string | undefined
  secFetchMode: string | undefined
  secFetchDest: string | undefined
  requestedBy: string | undefined
}

const READS = new Set(['GET', 'HEAD'])

/**
 * Why a request is refused before anything else is looked at; nothing when it may go on.
 * An origin is allowed by exact comparison; `null` is in no list. A state change must come from a script of an allowed page:
 * without Origin it is refused, so nothing that is not a browser changes anything here.
 */
export function refusal(
  facts: RequestFacts,
  allowedOrigins: readonly string[],
): string | undefined {
  const { origin, secFetchSite, secFetchMode, secFetchDest } = facts
  if (origin !== undefined && !allowedOrigins.includes(origin))
    return 'This server does not accept requests from this origin.'
  if (READS.has(facts.method)) {
    // Without Origin it is a read of the same origin, of an address bar, or of no browser; an image or a script of another site is not.
    if (
      origin === undefined &&
      secFetchSite !== undefined &&
      secFetchSite !== 'same-origin' &&
      secFetchSite !== 'none'
    ) {
      return 'Another site may not load this.'
    }
    return undefined
  }
  if (origin === undefined) return 'A state change needs an Origin header.'
  if (facts.requestedBy !== REQUESTED_BY.value)
    return `A state change needs the header ${REQUESTED_BY.name}: ${REQUESTED_BY.value}.`
  if (
    secFetchSite !== undefined &&
    !['same-origin', 'same-site', 'cross-site'].includes(secFetchSite)
  )
    return 'A state change must come from a page.'
  if (secFetchMode !== undefined && secFetchMode !== 'cors' && secFetchMode !== 'same-origin')
    return 'A state change must come from fetch.'
  if (secFetchDest !== undefined && secFetchDest !== 'empty')
    return 'A state change must come from fetch.'
  return undefined
}

/** Every known path answers a method it does not take with 405 and those it takes. Mounted after the routes. */
export function mountMethodRefusals(
  app: Hono<HonoEnv>,
  known: readonly { method: string; path: string }[],
): void {
  const methods = new Map<string, string[]>()
  for (const { method, path } of known) methods.set(path, [...(methods.get(path) ?? []), method])
  for (const [path, allowed] of methods) {
    app.all(path, (c) => {
      c.header('Allow', allowed.join(', '))
      throw new ProblemError('METHOD_NOT_ALLOWED')
    })
  }
}
