import type { Logger } from 'pino'
import type { Plan, Scope } from '#contract/api-key-body.ts'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { Signer } from '#signer/protocol.ts'
import type { Chain } from '../chains/chain.ts'
import type { ServiceConfig } from './config.ts'
import type { Limits } from '../limits/limits.ts'
import type { RequestLog } from './request-log.ts'
import type { UsageLog } from './usage-log.ts'

/** The steps of a hosted send, and of a settlement, between which a process may end. */
export type CrashPoint =
  | `send:${'validated' | 'simulated' | 'reserved' | 'signed' | 'persisted' | 'broadcast' | 'told'}`
  | `settle:${'signed' | 'persisted' | 'broadcast'}`

/**
 * What every operation gets: the parts of a running service. Tests build one with a separate clock.
 */
export type Context = {
  config: ServiceConfig
  db: Database
  chains: ReadonlyMap<NetworkId, Chain>
  /** Signs for managed wallets; their keys are not in this process. */
  signer: Signer
  log: Logger
  usage: UsageLog
  requests: RequestLog
  limits: Limits
  callers: {
    /** Whose key this is, at most 5 seconds late. */
    find(key: string, now: Date): Promise<Authenticated | undefined>
    /** Has the keys of an account read again; those of all accounts without one. */
    forget(accountId?: string): void
  }
  now: () => Date
  /** Called at each step. Only tests of recovery set it, to end the process there. */
  atPoint?: ((point: CrashPoint) => void) | undefined
}

/** The connection that the response goes to. */
export type Caller = {
  /** Whether it was closed before the response was written. */
  readonly gone: boolean
  /** Runs `undo` when the response is never written; at once if that is already known. */
  ifUnanswered: (undo: () => Promise<void>) => void
}

/** The caller: the API key of a request, resolved. */
export type Actor = {
  accountId: string
  keyId: string
  scopes: ReadonlySet<Scope>
  plan: Plan
  /**
   * A caller of the public facilitator: it has no account; `accountId` is the one whose wallet pays
   * the network fee.
   */
  keyless?: boolean
  /** The address of such a caller: only the same address learns what it began. */
  address?: string
  /**
   * The connection that waits for the response; undefined where none does, and where an unwritten
   * response can be fetched later.
   */
  caller?: Caller | undefined
}

/** An actor, the limits of its key and its account, and the scopes that the key has but the account's plan does not include. */
export type Authenticated = Actor & {
  requestsPerMinute: number
  accountPerMinute: number
  beyondPlan: ReadonlySet<Scope>
}
