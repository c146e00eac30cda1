import type { Logger } from 'pino'
import type { Database } from '#postgres/open.ts'
import type { Budgets } from '../budget/budgets.ts'
import type { BffConfig } from '../config/config.ts'
import type { EventHub } from '../events/hub.ts'
import type { Streams } from '../events/streams.ts'
import type { KeyVault } from '#signer/seal.ts'
import type { Rates } from '../rates/rates.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** A file on its way to its reader. */
export type OpenDelivery = {
  /** Extends the right to send it, or cuts it off where that is lost. Never rejects. */
  extend: () => Promise<void>
  /** What became of it is noted. Never rejects. */
  settled: Promise<void>
}

/** The parts of a running proxy. */
export type ProxyContext = {
  config: BffConfig
  db: Database
  log: Logger
  now: () => Date
  upstream: Upstream
  budgets: Budgets
  hub: EventHub
  streams: Streams
  rates: Rates
  /** What is being sent, until what became of it is noted. The stop waits for it. */
  deliveries: Set<OpenDelivery>
  /** Seals the credentials of sources; undefined where SOURCE_KEY_FILE is not set. */
  vault: KeyVault | undefined
}
