import * as v from 'valibot'
import { timestamp } from '#contract/fields.ts'
import { Rate } from '#contract/quote.ts'
import type { ProxyContext } from '../context/context.ts'
import { isGenuine, macOf, type LinkKey, refuseLink } from './open-link.ts'

/**
 * A rate that the proxy promised for one way to pay one link. Nothing is stored until it is used:
 * the token is its own record, signed with the key of the links. Its first value differs from that
 * of a link, so neither is ever read as the other.
 */
export type QuotedRate = {
  linkId: string
  network: string
  asset: string
  currency: string
  rate: Rate
  quotedAt: number
  expiresAt: number
}

const VERSION = 'quote/1'
const MAC_LENGTH = 43

const Payload = v.strictTuple([
  v.literal(VERSION),
  v.string(),
  v.string(),
  v.string(),
  v.string(),
  v.string(),
  Rate.entries.rate,
  Rate.entries.source,
  Rate.entries.round,
  timestamp,
  timestamp,
  timestamp,
])

/** @param key the one that signs now */
export function signQuote(key: LinkKey, quote: QuotedRate): string {
  const { rate } = quote
  const values: v.InferOutput<typeof Payload> = [
    VERSION,
    key.id,
    quote.linkId,
    quote.network,
    quote.asset,
    quote.currency,
    rate.rate,
    rate.source,
    rate.round,
    rate.observedAt,
    quote.quotedAt,
    quote.expiresAt,
  ]
  const payload = Buffer.from(JSON.stringify(values)).toString('base64url')
  return macOf(payload, key.secret) + payload
}

/**
 * The rate of a token, for one way to pay one link and before it expires.
 * @throws ProblemError `INVALID_PARAMETERS` with the reason `link_quote` or `quote_expired`
 */
export async function readQuote(
  { db, now }: ProxyContext,
  token: string,
  use: Pick<QuotedRate, 'linkId' | 'network' | 'asset' | 'currency'>,
): Promise<QuotedRate> {
  const [mac, payload] = [token.slice(0, MAC_LENGTH), token.slice(MAC_LENGTH)]
  const read = v.safeParse(Payload, tryJson(payload))
  if (!read.success) throw refuseLink('link_quote')
  const [, keyId, linkId, network, asset, currency, rate, source, round, observedAt, ...times] =
    read.output
  const [quotedAt, expiresAt] = times
  const same =
    linkId === use.linkId &&
    network === use.network &&
    asset === use.asset &&
    currency === use.currency
  if (!same || !(await isGenuine(db, { mac, payload, keyId }))) throw refuseLink('link_quote')
  if (expiresAt <= now().getTime()) throw refuseLink('quote_expired')
  const known = { rate, source, round, observedAt }
  return { linkId, network, asset, currency, rate: known, quotedAt, expiresAt }
}

function tryJson(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
