import type { OpenSession } from '../db/sessions.ts'
import { notFound } from '../session/rule.ts'

/**
 * The wallets a list is about. Without naming any: the operator's is the whole account, anyone else's are the wallets of the session.
 * @throws ProblemError `NOT_FOUND` for a wallet that is not the session's
 */
export function walletsOf(
  session: OpenSession,
  wanted: readonly string[] | undefined,
): readonly string[] | undefined {
  if (session.operator) return wanted
  if (!wanted) return session.wallets
  if (wanted.some((wallet) => !session.wallets.includes(wallet))) throw notFound()
  return wanted
}
