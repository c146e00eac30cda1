import { EVENT_KEYS } from '#contract/event.ts'
import { ProblemError } from '#contract/problem.ts'
import { parseAddress } from '#contract/address.ts'
import type { Database } from '#postgres/open.ts'
import { lastEventId, readEvents, type EventRow, type Filter } from '../../events/read.ts'
import type { EventMessage } from '../../events/to-message.ts'

const MOST_KEYS = 200

export type Subscription = {
  readonly keys: readonly string[]
  /** @returns the position from which a client that saw nothing else could resume */
  add(keys: readonly string[], since: string | undefined): Promise<bigint>
  remove(keys: readonly string[]): void
  /** Sends what is new, until there is nothing; a call while it runs makes it look once more. */
  pump(): Promise<void>
}

type Feed = {
  /** The messages of a page of events, in their order. */
  describe(rows: readonly EventRow[]): Promise<EventMessage[]>
  send(message: EventMessage): Promise<void>
}

/**
 * What one connection follows, and how far it has come. Backfill and live events are one and the same loop over the rows, so there is no seam
 * at which an event could be lost or sent twice.
 */
export function createSubscription(
  db: Database,
  accountId: string,
  { describe, send }: Feed,
): Subscription {
  const keys = new Set<string>()
  let position = 0n
  /** Grows when keys or position change under a pump that waits for the database. */
  let version = 0
  let pumping = false
  let again = false

  function filter(): Filter {
    return {
      accountId,
      kinds: [...keys].filter(isKindKey).map((key) => EVENT_KEYS[key]),
      wallets: [...keys].filter((key) => !isKindKey(key)),
    }
  }

  async function drain(): Promise<void> {
    const started = version
    const head = await lastEventId(db, accountId)
    while (version === started) {
      const rows = await readEvents(db, filter(), position)
      for (const message of await describe(rows)) {
        if (version !== started) return
        position = BigInt(message.id)
        await send(message)
      }
      if (rows.length > 0) continue
      // All rows up to the head were visible and none is left: events of other wallets need not be read again.
      if (version === started && position < head) position = head
      return
    }
  }

  return {
    get keys() {
      return [...keys]
    },
    async add(added, since) {
      const requested = added.map(toKey)
      if (new Set([...keys, ...requested]).size > MOST_KEYS)
        throw invalidKeys(`Expected at most ${MOST_KEYS} keys on one connection.`)
      const head = await lastEventId(db, accountId)
      const following = keys.size > 0
      for (const key of requested) keys.add(key)
      // A position ahead of the newest event belongs to another database; waiting for it would hide every event until then.
      if (since !== undefined) position = BigInt(since) < head ? BigInt(since) : head
      else if (!following) position = head
      version++
      return following && since === undefined ? position : head
    },
    remove(removed) {
      for (const key of removed.map(toKey)) keys.delete(key)
      version++
    },
    async pump() {
      again = true
      if (pumping) return
      pumping = true
      try {
        while (again && keys.size > 0) {
          again = false
          const started = version
          await drain()
          if (version !== started) again = true
        }
      } finally {
        pumping = false
      }
    },
  }
}

/** A kind's key, or a wallet's address in its normal form. */
function toKey(text: string): string {
  if (isKindKey(text)) return text
  const parsed = parseAddress(text)
  if (parsed.ok) return parsed.address
  throw invalidKeys(
    `Expected ${Object.keys(EVENT_KEYS).join(', ')}, or a wallet address, received ${JSON.stringify(text.slice(0, 60))}.`,
  )
}

function isKindKey(text: string): text is keyof typeof EVENT_KEYS {
  return Object.hasOwn(EVENT_KEYS, text)
}

function invalidKeys(message: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: `keys: ${message}`,
    details: { keys: message },
  })
}
