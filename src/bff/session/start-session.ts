import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  findSession,
  insertSession,
  replaceSession,
  type OpenSession,
  type SessionRow,
  type SessionWithRole,
} from '../db/sessions.ts'
import { readCookie, SESSION_COOKIE, setCookie, type CookieSite } from './cookie.ts'
import { ABSOLUTE_MS, IDLE_MS, toOpenSession } from './open-session.ts'
import { createCookieValue, createId, hashCookieValue } from './random.ts'

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
