import * as v from 'valibot'
import type { BrowserEndpoint } from './desk-endpoints.ts'
import { timestamp } from './fields.ts'

/** One of the browsers where a wallet is signed in. Which machine it is, the proxy does not know and does not ask. */
export const SessionEntry = v.object({
  /** The session that asks. */
  current: v.boolean(),
  wallets: v.array(v.string()),
  createdAt: timestamp,
  /** To the minute. */
  lastUsedAt: timestamp,
  expiresAt: timestamp,
})
export type SessionEntry = v.InferOutput<typeof SessionEntry>

/** A list has no fields either. */
const nothing = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), 'Expected an object.'),
  v.strictObject({}),
)

/** The sessions of whoever proved one of their wallets. */
export const sessionEndpoints = {
  /** Newest use first, the asking one among them. */
  sessionList: {
    method: 'GET',
    path: '/sessions',
    response: v.object({ sessions: v.array(SessionEntry) }),
  },
  /** Ends every other session that a wallet of this one opened, and their live streams. */
  sessionEndOthers: {
    method: 'POST',
    path: '/sessions/end-others',
    body: nothing,
    response: v.object({ ended: v.number() }),
  },
} as const satisfies Record<string, BrowserEndpoint>
