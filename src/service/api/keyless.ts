import type { Context as HttpContext } from 'hono'
import type { Endpoint } from '#contract/endpoint.ts'
import { ProblemError } from '#contract/problem.ts'
import { clientAddress } from '#http/client-address.ts'
import type { Actor, Context } from '../context/context.ts'
import { findWalletByAddress } from '../db/wallets.ts'
import type { HttpEnv } from './env.ts'

/** Used instead of a key id. */
export const KEYLESS = 'keyless'

/** Settlements per minute and address without a key: each may cost the operator a transaction. */
const KEYLESS_PER_MINUTE = 20

/**
 * The actor for a request without a key, where the operator opens the facilitator to everybody
 * (`FACILITATOR_PUBLIC`): the account whose wallet pays. Undefined where a key is required, and for
 * a request with an invalid key.
 * @throws `RATE_LIMIT`, counted per address
 */
export async function actKeyless(
  c: HttpContext<HttpEnv>,
  context: Context,
  endpoint: Endpoint,
): Promise<Actor | undefined> {
  const policy = context.config.facilitators
  if (
    endpoint.keyless !== 'facilitator' ||
    !policy?.public ||
    c.req.header('authorization') !== undefined
  )
    return undefined
  for (const address of policy.wallets ?? []) {
    const wallet = await findWalletByAddress(context.db, address)
    if (!wallet) continue
    if (endpoint.method === 'POST') await countSettlement(c, context)
    return {
      accountId: wallet.accountId,
      keyId: KEYLESS,
      scopes: new Set([endpoint.scope]),
      plan: 'standard',
      keyless: true,
      address: keylessAddress(c, context),
    }
  }
  return undefined
}

async function countSettlement(c: HttpContext<HttpEnv>, context: Context): Promise<void> {
  const address = keylessAddress(c, context)
  const { allowed, retryAfter, limit } = await context.limits.take([
    { pool: `settle ${address}`, perMinute: KEYLESS_PER_MINUTE },
  ])
  if (!allowed)
    throw new ProblemError('RATE_LIMIT', {
      retryAfter,
      details: { limit: `${limit} payments per minute without a key` },
    })
}

/** Callers without a key are told apart by their address, also under an idempotency key. */
export function keylessAddress(c: HttpContext<HttpEnv>, context: Context): string {
  return clientAddress(c.env?.incoming, context.config.trustedProxyHops)
}
