import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'

/**
 * A browser where a wallet is signed in. The proxy does not know which machine it is, and does not
 * ask.
 */
export const SessionEntry = v.object({
  /** Whether this session made the request. */
  current: v.boolean(),
  wallets: v.array(v.string()),
  createdAt: timestamp,
  /** Accurate to the minute. */
  lastUsedAt: timestamp,
  expiresAt: timestamp,
})
export type SessionEntry = v.InferOutput<typeof SessionEntry>

/** The sessions that share a wallet with the session that asks. */
export const sessionEndpoints = {
  /** Most recently used first, including the session that asks. */
  sessionList: {
    method: 'GET',
    path: '/sessions',
    response: v.object({ sessions: v.array(SessionEntry) }),
  },
  /** Ends every other session that a wallet of this one opened, and their live streams. */
  sessionEndOthers: {
    method: 'POST',
    path: '/sessions/end-others',
    response: v.object({ ended: v.number() }),
  },
} as const satisfies Record<string, Call>
