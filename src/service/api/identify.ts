import type { Context as HttpContext, MiddlewareHandler } from 'hono'
import { PLANS } from '#contract/api-key-body.ts'
import { ProblemError } from '#contract/problem.ts'
import { clientAddress } from '#http/connections.ts'
import type { Authenticated, Context } from '../context/context.ts'
import type { Limit } from '../limits/limits.ts'
import { addHeaders } from './envelope.ts'
import type { HttpEnv } from './handler.ts'

const BEARER = /^Bearer +(\S+)$/i

/** What an address may ask per minute without a valid key. */
export const ANONYMOUS_PER_MINUTE = PLANS.standard.requestsPerMinute

/** Who asks; undefined without a valid key. */
export async function findCaller(
  c: HttpContext<HttpEnv>,
  context: Context,
): Promise<Authenticated | undefined> {
  const key = BEARER.exec(c.req.header('authorization') ?? '')?.[1]
  return key ? context.callers.find(key, context.now()) : undefined
}

/** Finds out who asks and counts the request: against the account's plan and the key's limit, or against the address when there is no valid key. */
export function identify(context: Context): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const caller = await findCaller(c, context)
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
    addHeaders(c, {
      'x-ratelimit-limit': String(verdict.limit),
      'x-ratelimit-remaining': String(verdict.remaining),
      'x-ratelimit-reset': String(verdict.reset),
    })
    if (!verdict.allowed) {
      throw new ProblemError('RATE_LIMIT', {
        retryAfter: verdict.retryAfter,
        details: { limit: `${verdict.limit} requests per minute` },
      })
    }
    await next()
  }
}

/**
 * What bounds the requests of a key: its account's plan, which all keys of the account share, and its own limit where that is lower.
 * A key whose limit is as high as the account's is bounded by the account's already.
 */
export function limitsOf({
  accountId,
  keyId,
  accountPerMinute,
  requestsPerMinute,
}: Authenticated): Limit[] {
  const account = { pool: accountId, perMinute: accountPerMinute }
  return requestsPerMinute < accountPerMinute
    ? [account, { pool: keyId, perMinute: requestsPerMinute }]
    : [account]
}
