import { generateCookie } from 'hono/cookie'
import type { Session } from '#contract/dashboard-endpoints.ts'
import { isPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Role } from '#contract/role.ts'
import type { ProxyContext } from '../context/context.ts'
import { findRole } from '../db/people.ts'
import {
  extendSession,
  findSession,
  hasSessionPayment,
  type OpenSession,
  type SessionWithRole,
  insertSession,
  replaceSession,
  type SessionRow,
} from '../db/sessions.ts'
import { hashCookieValue, isCookieValue, createCookieValue, createId } from './random.ts'

/** `__Host-`: a browser takes them only with Secure, Path=/ and no Domain, so that no other host can plant one. localhost counts as secure. */
export const SESSION_COOKIE = '__Host-paydesk'
/** Names the browser between a challenge and its answer. */
export const BROWSER_COOKIE = '__Host-paydesk-browser'

/**
 * A cookie's value; undefined when it is not one of ours, or when the header has this name twice.
 * Hono's reader takes the first of two, decodes and unquotes values, and strips spaces from names.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  if (!header) return undefined
  const values = header
    .split(';')
    .map((part) => part.replace(/^[ \t]+/, ''))
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
  return values.length === 1 && isCookieValue(values[0]) ? values[0] : undefined
}

export type CookieSite = 'same-site' | 'cross-site'

/**
 * Whether the web app and this proxy are one site to the browser. The browser says so itself; where it does not
 * (it omits Sec-Fetch-Site on plain http outside localhost), the same host name is the only safe yes.
 */
export function cookieSite(request: {
  origin: string | undefined
  secFetchSite: string | undefined
  host: string | undefined
}): CookieSite {
  if (request.secFetchSite === 'same-origin' || request.secFetchSite === 'same-site')
    return 'same-site'
  if (request.secFetchSite === 'cross-site' || !request.origin || !request.host) return 'cross-site'
  return new URL(request.origin).hostname === new URL(`http://${request.host}`).hostname
    ? 'same-site'
    : 'cross-site'
}

/** `Partitioned`: the cookie of a proxy on another site belongs to the one web app it was set under, and third-party cookie blocking leaves it alone. */
export function setCookie(
  cookie: { name: string; value: string; maxAgeSeconds: number },
  site: CookieSite,
): string {
  return generateCookie(cookie.name, cookie.value, {
    path: '/',
    maxAge: cookie.maxAgeSeconds,
    httpOnly: true,
    secure: true,
    sameSite: site === 'same-site' ? 'Strict' : 'None',
    partitioned: site === 'cross-site',
  })
}

export function clearCookie(name: string, site: CookieSite): string {
  return setCookie({ name, value: '', maxAgeSeconds: 0 }, site)
}

export const IDLE_MS = 30 * 60_000
const ABSOLUTE_MS = 12 * 3_600_000
/** The idle limit moves at most this often, so that a busy page does not write on every request. */
const EXTEND_EVERY_MS = 60_000

/** The wallets of the configuration are owners. */
export function toOpenSession(row: SessionWithRole, owners: readonly string[]): OpenSession {
  const wallet = row.wallets.find((each) => owners.includes(each))
  return {
    id: row.id,
    wallets: row.wallets,
    member: wallet === undefined ? row.given : { wallet, role: 'owner' },
    expiresAt: row.idleAt < row.expiresAt ? row.idleAt : row.expiresAt,
  }
}

/** The session of a request's cookie, with its idle limit extended. */
export async function openSession(
  context: ProxyContext,
  cookies: string | undefined,
): Promise<OpenSession | undefined> {
  const cookie = readCookie(cookies, SESSION_COOKIE)
  if (!cookie) return undefined
  const now = context.now()
  const row = await findSession(context.db, hashCookieValue(cookie), now)
  if (!row) return undefined
  const idleAt = new Date(now.getTime() + IDLE_MS)
  if (idleAt.getTime() - row.idleAt.getTime() >= EXTEND_EVERY_MS) {
    await extendSession(context.db, row.id, idleAt)
    return toOpenSession({ ...row, idleAt }, context.config.operatorWallets)
  }
  return toOpenSession(row, context.config.operatorWallets)
}

/** What a wallet may do by itself: for what it signs. */
export async function roleOf(
  { config, db }: Pick<ProxyContext, 'config' | 'db'>,
  wallet: string,
): Promise<Role | null> {
  return config.operatorWallets.includes(wallet) ? 'owner' : findRole(db, wallet)
}

export function sessionBody(session: OpenSession): Session {
  return {
    wallets: session.wallets,
    role: session.member?.role ?? null,
    expiresAt: session.expiresAt.getTime(),
  }
}

/**
 * Whether a session may read a payment: people of the account any, others those of their wallets and those
 * they made.
 */
export async function maySee(
  context: ProxyContext,
  session: OpenSession,
  payment: { paymentId: string; sender: string; recipient: string },
): Promise<boolean> {
  if (
    session.member !== null ||
    session.wallets.includes(payment.sender) ||
    session.wallets.includes(payment.recipient)
  )
    return true
  return (
    isPaymentId(payment.paymentId) && hasSessionPayment(context.db, session.id, payment.paymentId)
  )
}

/** As many as one list of payments takes. */
const MAX_WALLETS = 20

export type StartedSession = { session: OpenSession; setCookie: string }

/** An anonymous buyer's session: it holds no wallet, and later the payments it made. `id`: where the session was named before it began. */
export async function startAnonymousSession(
  context: ProxyContext,
  site: CookieSite,
  id?: string,
): Promise<StartedSession> {
  return start(context, { wallets: [], site, id })
}

/**
 * After a proof: the wallet joins the session that is open, or a new one is opened. Either way the cookie is a new one,
 * so a cookie that someone knew before the sign-in opens nothing after it.
 */
export async function signInWallet(
  context: ProxyContext,
  wallet: string,
  request: { cookies: string | undefined; site: CookieSite },
): Promise<StartedSession> {
  const cookie = readCookie(request.cookies, SESSION_COOKIE)
  const now = context.now()
  const before = cookie ? await findSession(context.db, hashCookieValue(cookie), now) : undefined
  if (!cookie || !before) return start(context, { wallets: [wallet], site: request.site })

  const wallets = [...new Set([...before.wallets, wallet])]
  if (wallets.length > MAX_WALLETS)
    throw new ProblemError('INVALID_PARAMETERS', {
      message: `A session holds at most ${MAX_WALLETS} wallets. Sign out first.`,
    })
  // Another wallet's proof does not lengthen the life of those proved before it.
  const fresh = before.wallets.every((known) => known === wallet)
  const value = createCookieValue()
  const row = await replaceSession(context.db, hashCookieValue(cookie), {
    cookieHash: hashCookieValue(value),
    wallets,
    idleAt: new Date(now.getTime() + IDLE_MS),
    expiresAt: fresh ? new Date(now.getTime() + ABSOLUTE_MS) : before.expiresAt,
  })
  // Two sign-ins at once: the second finds the cookie replaced, and stands on its own.
  if (!row) return start(context, { wallets: [wallet], site: request.site })
  return started(context, row, { value, site: request.site })
}

async function start(
  context: ProxyContext,
  facts: { wallets: string[]; site: CookieSite; id?: string | undefined },
): Promise<StartedSession> {
  const now = context.now().getTime()
  const value = createCookieValue()
  const row: SessionRow = {
    id: facts.id ?? createId('ses'),
    cookieHash: hashCookieValue(value),
    wallets: facts.wallets,
    createdAt: new Date(now),
    idleAt: new Date(now + IDLE_MS),
    expiresAt: new Date(now + ABSOLUTE_MS),
  }
  const opened = await insertSession(context.db, row)
  return started(context, opened, { value, site: facts.site })
}

function started(
  context: ProxyContext,
  row: SessionWithRole,
  cookie: { value: string; site: CookieSite },
): StartedSession {
  return {
    session: toOpenSession(row, context.config.operatorWallets),
    setCookie: setCookie(
      { name: SESSION_COOKIE, value: cookie.value, maxAgeSeconds: ABSOLUTE_MS / 1000 },
      cookie.site,
    ),
  }
}
