import { deleteOtherSessions, findSessionsOf } from '../db/sessions.ts'
import { IDLE_MS } from '../session/open-session.ts'
import type { OwnRule } from '../session/own-rule.ts'
import { requireWallet } from '../session/rule.ts'

/** Where the wallets of this session are signed in, here and elsewhere. */
export const sessionList: OwnRule<'sessionList'> = async ({ context, visitor }) => {
  const own = requireWallet(visitor)
  const rows = await findSessionsOf(context.db, own.wallets, context.now())
  const sessions = rows.map((row) => ({
    current: row.id === own.id,
    wallets: row.wallets,
    createdAt: row.createdAt.getTime(),
    lastUsedAt: row.idleAt.getTime() - IDLE_MS,
    expiresAt: Math.min(row.idleAt.getTime(), row.expiresAt.getTime()),
  }))
  return { value: { sessions: sessions.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt) } }
}

/** For someone who signed in on a machine they no longer trust, or at all: every other session of their wallets is over. */
export const sessionEndOthers: OwnRule<'sessionEndOthers'> = async ({ context, visitor }) => {
  const own = requireWallet(visitor)
  const ended = await deleteOtherSessions(context.db, own.wallets, own.id)
  for (const id of ended) context.streams.end(id)
  return { value: { ended: ended.length } }
}
