import type { Logger } from 'pino'
import type { Plan, Scope } from '#contract/api-key.ts'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { Chain } from '../chains/chain.ts'
import type { ServiceConfig } from './config.ts'
import type { Limits } from '../limits/limits.ts'
import type { KeyVault } from './vault.ts'
import type { UsageLog } from './usage-log.ts'

/** What every verb gets: the parts of a running service. Tests build one with a clock of their own. */
export type Context = {
  config: ServiceConfig
  db: Database
  chains: ReadonlyMap<NetworkId, Chain>
  /** Wraps the keys of managed wallets. */
  vault: KeyVault
  log: Logger
  usage: UsageLog
  limits: Limits
  now: () => Date
}

/** The connection that an answer goes to. */
export type Caller = {
  /** Whether it was closed before the answer was written. */
  readonly gone: boolean
  /** Runs `undo` when the answer is never written; at once where that is known already. */
  ifUnanswered: (undo: () => Promise<void>) => void
}

/** Who asks: the API key of a request, resolved. */
export type Actor = {
  accountId: string
  keyId: string
  scopes: ReadonlySet<Scope>
  plan: Plan
  /** A caller of the public facilitator: it has no account; `accountId` is the one whose wallet pays the network fee. */
  keyless?: boolean
  /** Where such a caller calls from: it alone is told of what it began. */
  address?: string
  /** The connection that waits for the answer; undefined where none does, and where an answer that was not written can be fetched later. */
  caller?: Caller | undefined
}
