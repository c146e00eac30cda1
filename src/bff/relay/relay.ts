import type { RelayInput } from '#contract/relay.ts'
import { MAX_RELAYED_BYTES } from '#contract/relay.ts'
import { ProblemError } from '#contract/problem.ts'
import { EgressError, exchange } from '#egress/exchange.ts'
import type { OwnRule } from '../session/own-rule.ts'
import { requireWallet } from '../session/rule.ts'
import { isWithheld, refuseHeader } from './own-headers.ts'
import { ConcurrencyLimit } from './concurrency-limit.ts'

/** A seller may settle a payment before it answers, so an answer may take a while. */
const WITHIN_MS = 60_000
const turnstile = new ConcurrencyLimit({ perHost: 4, total: 32 })

/**
 * Asks an address of the visitor's choice for them, under the guard of every foreign address, and passes the answer on as data.
 * Nothing of this program goes along: no key, no cookie, no address of the visitor. What is asked is not logged: it may hold a payment.
 */
export const relay: OwnRule<'relay'> = async ({ context, visitor, body }) => {
  const { audience, loopback } = context.config.relay
  if (audience === 'off')
    throw new ProblemError('FORBIDDEN', {
      message: 'The relay is turned off.',
      details: { reason: 'relay_off' },
    })
  if (audience === 'wallets') requireWallet(visitor)
  const { method, url, headers } = readRequest(body)
  context.budgets.spendRelay(visitor.address)
  try {
    const bytes = body.body === undefined ? undefined : new TextEncoder().encode(body.body)
    const asked = await turnstile.pass(url.host, () =>
      exchange(
        { method, url, headers, body: bytes },
        { timeoutMs: WITHIN_MS, maxBytes: MAX_RELAYED_BYTES, loopback },
      ),
    )
    if (!asked.passed)
      throw new ProblemError('RATE_LIMIT', {
        retryAfter: 2,
        details: { budget: 'relay', scope: 'host' },
      })
    const answer = asked.value
    return {
      value: {
        answered: true as const,
        status: answer.status,
        headers: answer.headers
          .filter(([name]) => !isWithheld(name))
          .map(([name, value]): [string, string] => [name, value]),
        body: Buffer.from(answer.body).toString('base64'),
      },
    }
  } catch (error) {
    if (error instanceof EgressError) return { value: { answered: false as const } }
    throw error
  }
}

/** @throws ProblemError `INVALID_PARAMETERS` with every problem at once */
function readRequest({ method, url: text, headers, body }: RelayInput): {
  method: string
  url: URL
  headers: Record<string, string>
} {
  const details: Record<string, string> = {}
  const names = new Map<string, string>()
  for (const [index, [name, value]] of headers.entries()) {
    const lower = name.toLowerCase()
    const refused = names.has(lower) ? `Expected ${name} once.` : refuseHeader(name)
    if (refused) details[`headers.${index}`] = refused
    names.set(lower, value)
  }
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    details.body = `Expected no body with ${method}.`
  if (Object.keys(details).length > 0) throw new ProblemError('INVALID_PARAMETERS', { details })
  return { method, url: new URL(text), headers: Object.fromEntries(names) }
}
