import { eq, lt, sql } from 'drizzle-orm'
import { familyOf, type Network, type NetworkId } from '#contract/network.ts'
import { USAGE_PERIODS, type UsagePeriod } from '#contract/usage.ts'
import { startInternalServer } from '#http/internal-server.ts'
import { startHttpServer } from '#http/server.ts'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import { openSigner } from '#signer/client.ts'
import { startNumbering } from './api/events/numbering.ts'
import { EVENTS_PATH, startEventStream } from './api/events/stream.ts'
import { routes } from './api/handlers.ts'
import { createApp } from './app.ts'
import type { Chain } from './chains/chain.ts'
import { openEvmChain } from './chains/evm/chain.ts'
import { openRecovery } from './chains/evm/recovery.ts'
import { NO_OBSERVER } from './chains/endpoints.ts'
import { openSolanaChain } from './chains/solana/chain.ts'
import type { ServiceConfig } from './context/config.ts'
import type { Context } from './context/context.ts'
import { createLog } from './context/log.ts'
import { createMetrics } from './context/metrics.ts'
import { createReadiness } from './health.ts'
import { createRequestLog } from './context/request-log.ts'
import { createUsageLog } from './context/usage-log.ts'
import { deleteInBatches } from './db/delete-in-batches.ts'
import { endPredecessor } from './db/deployment.ts'
import { SERVICE_SCHEMA } from './db/migrations-folder.ts'
import { removeOldIdentifiers } from './db/payment-identifiers.ts'
import { eraseDraftTexts } from './db/payments.ts'
import { removeEndedReservations } from './db/reservations.ts'
import { removeAcceptedPayers } from './db/settlement-fees.ts'
import { idempotency, socket, tokenPool, usage } from './db/schema/access.ts'
import { removeOldDeliveries } from './db/webhooks.ts'
import { deleteExpiredWalletChallenges } from './db/wallet-owners.ts'
import { removeOldRequests } from './usage/read-requests.ts'
import { RETENTION_DAYS } from './idempotency/run-once.ts'
import { rememberCallers } from './keys/known-callers.ts'
import { leaseTokens, Limits } from './limits/limits.ts'
import { startWatchers } from './monitor/start.ts'
import { startFolding } from './payments/list/history-total.ts'
import { readPaymentBodies, readPaymentBody } from './payments/status.ts'
import { startReconciliation } from './reconciliation/reconcile.ts'
import { describeSlowness } from './settlement/facilitator.ts'
import { startFlushing } from './usage/read-usage.ts'
import { startWebhooks } from './webhooks/worker.ts'
import { registerConfiguredWallets } from './wallets/create-wallet.ts'
import { compareVaultKeys } from './wallets/vault-key.ts'

export type RunningService = {
  url: string
  port: number
  /** Of metrics and readiness; undefined where `INTERNAL_PORT` is not set. */
  internalPort?: number
  context: Context
  /** Stops accepting, finishes what is in flight, and releases everything within 10 seconds. */
  [Symbol.asyncDispose](): Promise<void>
}

const STOP_WITHIN_MS = 8_000

/** Builds and starts the payment service. What was started is stopped again when a later part fails. */
export async function createService(
  config: ServiceConfig,
  overrides: Partial<Pick<Context, 'now' | 'atPoint' | 'signer'>> = {},
): Promise<RunningService> {
  const log = createLog(config.logLevel)
  for (const network of config.networks) {
    const slowness = describeSlowness(network)
    if (slowness !== undefined) log.warn({ network: network.network }, slowness)
  }
  const recovery = await openRecovery((error) =>
    log.warn({ err: error }, 'signers are recovered in JavaScript, which is slower'),
  )
  await using stack = new AsyncDisposableStack()
  // Before the database: setting up the embedded one blocks this thread, and a child would seem not to answer.
  const signer =
    overrides.signer ??
    stack.use(
      await openSigner(config.signer, (error) =>
        log.error({ err: error }, 'the signer ended, or does not start'),
      ),
    )
  const database = stack.use(
    await openDatabase(config.database, {
      ...SERVICE_SCHEMA,
      onWarning: (error) => log.warn({ err: error }, 'database connection lost'),
    }),
  )
  if (database.engine === 'pglite') await endPredecessor(database.db)
  else if (database.ownsTables)
    log.warn('the role of DATABASE_URL owns the tables and may delete them')
  const metrics = createMetrics({
    networks: config.networks,
    db: database.db,
    readPool: database.readPool,
  })
  const chains = createChains(config.networks, metrics.chains)
  stack.defer(
    async () => void (await Promise.all([...chains.values()].map((chain) => chain.close()))),
  )
  const limits = new Limits({
    lease: (requests) => leaseTokens(database.db, requests),
    onWarning: (error) => log.warn({ err: error }, 'unspent tokens of limits not given back'),
  })
  stack.defer(() => limits.close())
  const keys = await rememberCallers(database)
  stack.defer(() => keys.stop())
  const context: Context = {
    config,
    db: database.db,
    chains,
    signer,
    log,
    usage: createUsageLog(database.db),
    requests: createRequestLog(database.db, {
      onSkipped: (count) => log.warn({ count }, 'requests were not recorded in the request log'),
      onError: (error) => log.warn({ err: error }, 'requests could not be recorded yet'),
    }),
    limits,
    callers: keys.callers,
    now: overrides.now ?? (() => new Date()),
    atPoint: overrides.atPoint,
  }
  await compareVaultKeys(context)
  await registerConfiguredWallets(context)
  stack.defer(startFlushing(context))
  stack.defer(startFolding(context))
  stack.defer(await startNumbering(context, database.listen))

  const watchers = startWatchers(context)
  stack.defer(() => watchers.stop())
  stack.defer(startReconciliation(context, metrics))
  stack.defer(startHousekeeping(context))
  stack.defer(
    await startWebhooks(context, {
      listen: database.listen,
      readPayment: (id) => readPaymentBody(context, id),
    }),
  )
  const events = await startEventStream(context, {
    listen: database.listen,
    metrics,
    readPayments: (ids) => readPaymentBodies(context, ids),
  })
  stack.defer(() => events.stop())
  const ready = createReadiness(context)
  const readiness = async () => ({ ...(await ready()), recovery })
  const onError = (error: unknown) => log.error({ err: error }, 'request failed')
  const internal =
    config.internal &&
    (await startInternalServer(config.internal, {
      readiness,
      register: metrics.register,
      now: context.now,
      onError,
    }))
  // Above the server in this list of what is stopped: it tells of readiness until the end.
  if (internal) stack.defer(() => internal.stop(0))
  const app = createApp(context, routes, { metrics, readiness })
  const server = await startHttpServer(config, {
    fetch: app.fetch,
    now: context.now,
    onError,
    webSocket: { path: EVENTS_PATH, onUpgrade: events.onUpgrade },
  })
  // The server waits for its WebSockets too, so both end together.
  stack.defer(async () => void (await Promise.all([server.stop(STOP_WITHIN_MS), events.stop()])))

  const running = stack.move()
  return {
    url: `http://${config.host}:${server.port}`,
    port: server.port,
    ...(internal && { internalPort: internal.port }),
    context,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Migrates the database, sets the rights of its runtime role, and closes it. */
export async function migrateDatabase(target: DatabaseTarget): Promise<void> {
  await using _ = await openDatabase(target, SERVICE_SCHEMA)
}

/** The chains of a configuration, by network. None is asked yet: a chain that is down does not stop the service from starting. */
export function createChains(
  networks: readonly Network[],
  observer = NO_OBSERVER,
): Map<NetworkId, Chain> {
  return new Map(
    networks.map((network) => [
      network.network,
      familyOf(network.network) === 'evm'
        ? openEvmChain(network, observer)
        : openSolanaChain(network, observer),
    ]),
  )
}

const EVERY_MS = 3_600_000
/** Callers from many addresses leave a row each, for two minutes at most. */
const LIMITS_EVERY_MS = 60_000

type Sweep = (db: Database, now: Date) => Promise<unknown>

/** What has no meaning any more, by its name in the log. Tables that grow with the payments are emptied some rows at a time. */
const SWEEPS: Readonly<Record<string, Sweep>> = {
  'unused limits': sweepLimits,
  'texts of old drafts': async (db) => {
    while ((await eraseDraftTexts(db)) > 0);
  },
  'old requests': removeOldRequests,
  'old idempotency keys': (db) =>
    deleteInBatches(db, idempotency, {
      where: lt(idempotency.createdAt, sql`now() - make_interval(days => ${RETENTION_DAYS})`),
      order: idempotency.createdAt,
    }),
  'fine usage figures of long ago': sweepUsage,
  'expired challenges': deleteExpiredWalletChallenges,
  'reservations of funds': removeEndedReservations,
  'old payment identifiers': removeOldIdentifiers,
  'payers that are accepted again': removeAcceptedPayers,
  'old webhook deliveries': removeOldDeliveries,
  'sockets of dead processes': (db) => db.delete(socket).where(lt(socket.leaseUntil, sql`now()`)),
}

/** Removes what has no meaning any more. What fails is logged and tried again the next time; the rest is removed all the same. */
export async function sweep({ db, now, log }: Pick<Context, 'db' | 'now' | 'log'>): Promise<void> {
  for (const [what, remove] of Object.entries(SWEEPS))
    await remove(db, now()).catch((error: unknown) =>
      log.warn({ err: error, what }, 'housekeeping failed'),
    )
}

async function sweepUsage(db: Database): Promise<void> {
  for (const [period, { retentionDays }] of Object.entries(USAGE_PERIODS) as [
    UsagePeriod,
    { retentionDays: number },
  ][]) {
    const old = lt(usage.startsAt, sql`now() - make_interval(days => ${retentionDays})`)
    const where = sql`${eq(usage.period, period)} and ${old}`
    await deleteInBatches(db, usage, { where, order: usage.startsAt })
  }
}

async function sweepLimits(db: Database): Promise<void> {
  await db.delete(tokenPool).where(lt(tokenPool.emptyAt, sql`now()`))
}

/** @returns stops it */
function startHousekeeping(context: Context): () => void {
  const run = () => void sweep(context)
  run()
  const timer = setInterval(run, EVERY_MS)
  const limits = setInterval(
    () =>
      void sweepLimits(context.db).catch((error: unknown) =>
        context.log.warn({ err: error }, 'housekeeping failed'),
      ),
    LIMITS_EVERY_MS,
  )
  return () => {
    clearInterval(timer)
    clearInterval(limits)
  }
}
