import type { OpenDatabase } from '#postgres/open.ts'
import { findKey } from './authenticate.ts'
import { KEY_CHANNEL } from './key-changes.ts'
import { KnownCallers } from './known-callers.ts'

/**
 * The callers that this process remembers, and forgets when any process says that their keys
 * changed. After a lost connection everything is forgotten.
 */
export async function rememberCallers({
  db,
  listen,
}: Pick<OpenDatabase, 'db' | 'listen'>): Promise<{ callers: KnownCallers; stop(): Promise<void> }> {
  const callers = new KnownCallers({ read: (hash, now) => findKey(db, hash, now) })
  const stop = await listen(KEY_CHANNEL, (accountId) => callers.forget(accountId))
  return { callers, stop }
}
