import type { MiddlewareHandler } from 'hono'
import { PLANS } from '#contract/api-key.ts'
import { ProblemError } from '#contract/problem.ts'
import { clientAddress } from '#http/client-address.ts'
import type { Context } from '../context/context.ts'
import { authenticate } from '../keys/authenticate.ts'
import { limitsOf } from './limits-of.ts'
import type { HttpEnv } from './env.ts'

const BEARER = /^Bearer +(\S+)$/i

/** What an address may ask per minute without a valid key. */
export const ANONYMOUS_PER_MINUTE = PLANS.standard.requestsPerMinute

/** Finds out who asks and counts the request: against the account's plan and the key's limit, or against the address when there is no valid key. */
export function identify(context: Context): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const key = BEARER.exec(c.req.header('authorization') ?? '')?.[1]
    const caller = key ? await authenticate(context.db, key, context.now()) : undefined
    c.set('caller', caller)
    const limits = caller
      ? limitsOf(caller)
      : [
          {
            pool: clientAddress(c.env?.incoming, context.config.trustedProxyHops),
            perMinute: ANONYMOUS_PER_MINUTE,
          },
        ]
    const verdict = await context.limits.take(limits)
    c.header('X-RateLimit-Limit', String(verdict.limit))
    c.header('X-RateLimit-Remaining', String(verdict.remaining))
    c.header('X-RateLimit-Reset', String(verdict.reset))
    if (!verdict.allowed) {
      throw new ProblemError('RATE_LIMIT', {
        retryAfter: verdict.retryAfter,
        details: { limit: `${verdict.limit} requests per minute` },
      })
    }
    await next()
  }
}
