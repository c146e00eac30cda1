import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import type { Context } from '../context.ts'
import { cookieSite } from '../session/cookie.ts'
import type { CookieSite } from '../session/cookie.ts'
import { openSession } from '../session/open-session.ts'
import type { OpenSession } from '../session/open-session.ts'
import type { HttpContext } from './env.ts'

/** Who asks, as far as this program knows. */
export type Visitor = {
  session: OpenSession | undefined
  /** An allowed one, or nothing. */
  origin: string | undefined
  site: CookieSite
  /** What budgets are kept by: an IPv4 address, or the /64 that one IPv6 subscriber has. */
  address: string
  cookies: string | undefined
}

export async function readVisitor(context: Context, c: HttpContext): Promise<Visitor> {
  const origin = c.get('origin')
  const cookies = c.req.header('cookie')
  return {
    session: await openSession(context, cookies),
    origin,
    site: cookieSite({ origin, secFetchSite: c.req.header('sec-fetch-site'), host: c.req.header('host') }),
    address: clientAddress(c.env.incoming, context.config.trustedProxyHops),
    cookies,
  }
}

/** With `hops` proxies of one's own in front, the address is the one the outermost of them saw; what stands further left anyone can write. */
function clientAddress(request: IncomingMessage, hops: number): string {
  const remote = request.socket.remoteAddress ?? 'unknown'
  if (hops === 0) return normalAddress(remote)
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',')
  return normalAddress(forwarded.at(-hops)?.trim() || remote)
}

function normalAddress(address: string): string {
  const mapped = address.replace(/^::ffff:(?=[0-9]+\.)/i, '')
  if (!isIPv6(mapped)) return mapped
  const [head = '', tail] = mapped.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
