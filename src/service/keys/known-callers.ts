import { isApiKey } from '#contract/api-key-body.ts'
import type { OpenDatabase } from '#postgres/open.ts'
import type { Authenticated } from '../context/context.ts'
import { KEY_CHANNEL } from './accounts.ts'
import { type FoundKey, findKey, hashKey } from './authenticate.ts'

/**
 * How long a process trusts what it read of a key, in milliseconds. A notification ends that sooner;
 * where all of them are lost, a revoked key still ends everywhere after this long.
 */
export const TRUSTED_MS = 5_000
/** Valid keys that a process remembers; the one read longest ago goes first. */
const MOST_KEYS = 10_000

type Known = FoundKey & { readAt: number }

type Options = {
  read: (hash: string, now: Date) => Promise<FoundKey | undefined>
  /** Milliseconds of a clock that never goes back. */
  clock?: () => number
}

/**
 * Who the keys of recent requests belong to, by the hash of the key, so that a request asks no
 * database. Only valid keys are remembered: a wrong one is looked up each time, and a new one is
 * valid at once.
 */
export class KnownCallers {
  readonly #read: Options['read']
  readonly #clock: () => number
  readonly #known = new Map<string, Known>()
  readonly #reading = new Map<string, Promise<FoundKey | undefined>>()
  /** How often something was forgotten: what was read before the last time may be older than that. */
  #changes = 0

  constructor({ read, clock = () => performance.now() }: Options) {
    this.#read = read
    this.#clock = clock
  }

  /** Whose key this is, as `authenticate` says it, at most `TRUSTED_MS` late. */
  async find(key: string, now: Date): Promise<Authenticated | undefined> {
    const hash = hashKey(key)
    const known = this.#known.get(hash)
    const isTrusted = known !== undefined && this.#clock() - known.readAt < TRUSTED_MS
    // Only what has the form and the checksum of a key is looked up.
    if (!isTrusted && !isApiKey(key)) return undefined
    const found = isTrusted ? known : await this.#readOnce(hash, now)
    if (!found || (found.expiresAt !== null && found.expiresAt <= now)) return undefined
    return found.caller
  }

  /** Forgets the keys of an account; of all accounts without one. */
  forget(accountId = ''): void {
    this.#changes++
    this.#reading.clear()
    for (const [hash, { caller }] of this.#known)
      if (accountId === '' || caller.accountId === accountId) this.#known.delete(hash)
  }

  /** Requests of the same moment share one look-up. */
  #readOnce(hash: string, now: Date): Promise<FoundKey | undefined> {
    const running = this.#reading.get(hash)
    if (running) return running
    const reading = this.#load(hash, now).finally(() => {
      if (this.#reading.get(hash) === reading) this.#reading.delete(hash)
    })
    this.#reading.set(hash, reading)
    return reading
  }

  async #load(hash: string, now: Date): Promise<FoundKey | undefined> {
    // From before the question: a key that is revoked while it is read is not trusted for longer.
    const [readAt, changes] = [this.#clock(), this.#changes]
    const found = await this.#read(hash, now)
    this.#known.delete(hash)
    if (!found || changes !== this.#changes) return found
    this.#known.set(hash, { ...found, readAt })
    const oldest = this.#known.keys().next()
    if (this.#known.size > MOST_KEYS && !oldest.done) this.#known.delete(oldest.value)
    return found
  }
}

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
