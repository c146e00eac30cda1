import { ProblemError } from '#contract/problem.ts'
import { type RelayInput, MAX_RELAYED_BYTES } from '#contract/relay.ts'
import { EgressError, exchange } from '#egress/exchange.ts'
import { networkOf } from '../budget/budgets.ts'
import { ConcurrencyLimit } from '../budget/concurrency.ts'
import { type OwnRule, requireWallet } from '../session/rule.ts'

/**
 * Headers a relayed request never carries: those of the connection, those browsers set themselves,
 * and those that identify a person.
 */
const REFUSED = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'origin',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
])

/** Why a header is not relayed; undefined when it is. */
function refuseHeader(name: string): string | undefined {
  const lower = name.toLowerCase()
  const refused =
    REFUSED.has(lower) ||
    lower.startsWith('sec-') ||
    lower.startsWith('proxy-') ||
    lower.startsWith('x-forwarded-')
  return refused
    ? `The relay does not carry ${name}. Ask the address directly to send it.`
    : undefined
}

/** Response headers that belong to the connection, or would set something in a browser. */
const WITHHELD = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'set-cookie',
  'set-cookie2',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'clear-site-data',
])

function isWithheld(name: string): boolean {
  return WITHHELD.has(name)
}

/** A seller may settle a payment before it answers, so an answer may take a while. */
const WITHIN_MS = 60_000
/**
 * Requests under way to one host, for one visitor's network, and in the whole proxy: a relay must be no lever against any of them.
 * Of the requests to one host a network has a share, so that none keeps a shop from all others.
 */
const turnstile = new ConcurrencyLimit({
  'address on host': 2,
  host: 8,
  address: 4,
  merchant: 32,
})

/**
 * Asks an address of the visitor's choice for them, under the guard of every foreign address, and passes the answer on as data.
 * Nothing of this program goes along: no key, no cookie, no address of the visitor. What is asked is not logged: it may hold a payment.
 */
export const relay: OwnRule<'relay'> = async ({ context, visitor, body }) => {
  const { audience, loopback } = context.config.relay
  if (audience === 'off')
    throw new ProblemError('FORBIDDEN', {
      message: 'The relay is turned off.',
      reason: 'relay_off',
    })
  if (audience === 'wallets') requireWallet(visitor)
  const { method, url, headers } = readRequest(body)
  context.budgets.spendRelay(visitor.address)
  try {
    const bytes = body.body === undefined ? undefined : new TextEncoder().encode(body.body)
    const address = networkOf(visitor.address)
    const { host } = url
    const names = { 'address on host': `${address} ${host}`, host, address, merchant: '' }
    const relayed = await turnstile.pass(names, () =>
      exchange(
        { method, url, headers, body: bytes },
        { timeoutMs: WITHIN_MS, maxBytes: MAX_RELAYED_BYTES, loopback },
      ),
    )
    if (relayed.refused !== null)
      throw new ProblemError('RATE_LIMIT', {
        retryAfter: 2,
        details: { budget: 'relay', scope: relayed.refused },
      })
    const answer = relayed.value
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
