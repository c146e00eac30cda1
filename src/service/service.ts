import { startHttpServer } from '#http/server.ts'
import { openDatabase } from '#postgres/open.ts'
import { createApp } from './app.ts'
import { createChains } from './create-chains.ts'
import type { ServiceConfig } from './context/config.ts'
import type { Context } from './context/context.ts'
import { endPredecessor } from './db/end-predecessor.ts'
import { SERVICE_SCHEMA } from './db/migrations-folder.ts'
import { EVENTS_PATH, startEventStream } from './api/events/stream.ts'
import { startHousekeeping } from './housekeeping.ts'
import { leaseTokens } from './limits/lease-tokens.ts'
import { Limits } from './limits/limits.ts'
import { createLog } from './context/log.ts'
import { createMetrics } from './context/metrics.ts'
import { startFolding } from './payments/list/history-folding.ts'
import { readPaymentBody } from './payments/status.ts'
import { describeSlowness } from './settlement/settle-within.ts'
import { routes } from './api/handlers.ts'
import { startFlushing } from './usage/start-flushing.ts'
import { createUsageLog } from './context/usage-log.ts'
import { openVault } from './wallets/open-vault.ts'
import { registerConfiguredWallets } from './wallets/register-configured.ts'
import { startReconciliation } from './reconciliation/schedule.ts'
import { startWatchers } from './monitor/start.ts'

export type RunningService = {
  url: string
  port: number
  context: Context
  /** Stops accepting, finishes what is in flight, and releases everything within 10 seconds. */
  [Symbol.asyncDispose](): Promise<void>
}

const STOP_WITHIN_MS = 8_000

/** Builds and starts the payment service. What was started is stopped again when a later part fails. */
export async function createService(
  config: ServiceConfig,
  overrides: Partial<Pick<Context, 'now' | 'atPoint'>> = {},
): Promise<RunningService> {
  const log = createLog(config.logLevel)
  for (const network of config.networks) {
    const slowness = describeSlowness(network)
    if (slowness !== undefined) log.warn({ network: network.network }, slowness)
  }
  const vault = await openVault(config.vaultKey)
  await using stack = new AsyncDisposableStack()
  const database = stack.use(
    await openDatabase(config.database, {
      ...SERVICE_SCHEMA,
      onWarning: (error) => log.warn({ err: error }, 'database connection lost'),
    }),
  )
  if (database.engine === 'pglite') await endPredecessor(database.db)
  const chains = createChains(config.networks)
  stack.defer(
    async () => void (await Promise.all([...chains.values()].map((chain) => chain.close()))),
  )
  const limits = new Limits({
    lease: (requests) => leaseTokens(database.db, requests),
    onWarning: (error) => log.warn({ err: error }, 'unspent tokens of limits not given back'),
  })
  stack.defer(() => limits.close())
  const context: Context = {
    config,
    db: database.db,
    chains,
    vault,
    log,
    usage: createUsageLog(database.db),
    limits,
    now: overrides.now ?? (() => new Date()),
    atPoint: overrides.atPoint,
  }
  await registerConfiguredWallets(context)
  stack.defer(startFlushing(context))
  stack.defer(startFolding(context))
  const metrics = createMetrics()

  const watchers = startWatchers(context)
  stack.defer(() => watchers.stop())
  stack.defer(startReconciliation(context, metrics))
  stack.defer(startHousekeeping(context))
  const events = await startEventStream(context, {
    listen: database.listen,
    metrics,
    readPayment: (id) => readPaymentBody(context, id),
  })
  stack.defer(() => events.stop())
  const app = createApp(context, routes, metrics)
  const server = await startHttpServer(config, {
    fetch: app.fetch,
    now: context.now,
    onError: (error) => log.error({ err: error }, 'request failed'),
    webSocket: { path: EVENTS_PATH, onUpgrade: events.onUpgrade },
  })
  // The server waits for its WebSockets too, so both end together.
  stack.defer(async () => void (await Promise.all([server.stop(STOP_WITHIN_MS), events.stop()])))

  const running = stack.move()
  return {
    url: `http://${config.host}:${server.port}`,
    port: server.port,
    context,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
