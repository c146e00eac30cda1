import { clientAddress } from '#http/connections.ts'
import type { ProxyContext } from '../context/context.ts'
import { cookieSite, type CookieSite, openSession } from './open-session.ts'
import type { OpenSession } from '../db/sessions.ts'
import type { HttpContext } from '../http/reply.ts'

/** Who asks, as far as this program knows. */
export type Visitor = {
  session: OpenSession | undefined
  /** An allowed one, or nothing. */
  origin: string | undefined
  site: CookieSite
  /** As `addressKey` spells it: an IPv4 address, or the /64 of an IPv6 address. */
  address: string
  cookies: string | undefined
}

export async function readVisitor(context: ProxyContext, c: HttpContext): Promise<Visitor> {
  const origin = c.get('origin')
  const cookies = c.req.header('cookie')
  return {
    session: await openSession(context, cookies),
    origin,
    site: cookieSite({
      origin,
      secFetchSite: c.req.header('sec-fetch-site'),
      host: c.req.header('host'),
    }),
    address: clientAddress(c.env.incoming, context.config.trustedProxyHops),
    cookies,
  }
}
