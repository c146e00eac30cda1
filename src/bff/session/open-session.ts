import { isPaymentId } from '#contract/payment.ts'
import type { Session } from '#contract/dashboard-endpoints.ts'
import type { Role } from '#contract/role.ts'
import type { ProxyContext } from '../context/context.ts'
import { findRole } from '../db/people.ts'
import {
  extendSession,
  findSession,
  hasSessionPayment,
  type OpenSession,
  type SessionWithRole,
} from '../db/sessions.ts'
import { readCookie, SESSION_COOKIE } from './cookie.ts'
import { hashCookieValue } from './random.ts'

export const IDLE_MS = 30 * 60_000
export const ABSOLUTE_MS = 12 * 3_600_000
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
export async function roleOf({ config, db }: ProxyContext, wallet: string): Promise<Role | null> {
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
