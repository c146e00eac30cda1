import { setTimeout as delay } from 'node:timers/promises'
import { type DestinationStream, pino, type Logger } from 'pino'
import * as v from 'valibot'
import { PLANS, type Plan } from '#contract/api-key-body.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { describeForLog } from '#contract/redact.ts'
import { startInternalServer, createProgramMetrics } from '#http/internal-server.ts'
import { startHttpServer, type HttpServer } from '#http/server.ts'
import { openDatabase } from '#postgres/open.ts'
import { createApp } from './app.ts'
import { Budgets, Quota } from './budget/budgets.ts'
import type { BffConfig } from './config/config.ts'
import type { ProxyContext } from './context/context.ts'
import { noteStatusEvent } from './db/links.ts'
import { postgresTimeline } from './db/schema.ts'
import { BFF_SCHEMA } from './db/migrations-folder.ts'
import { findMakers, findSessions } from './db/sessions.ts'
import { EventHub } from './events/hub.ts'
import { Streams } from './events/streams.ts'
import { EXTEND_EVERY_MS, extendSendings } from './files/deliver.ts'
import { openSourceVault } from './files/source-key.ts'
import { createReadiness } from './health.ts'
import { HOUSEKEEPING_EVERY_MS, sweep } from './housekeeping.ts'
import { rebuildLinkPayments, refreshRefunded, refreshRolledBack } from './links/refresh.ts'
import { Mailer } from './mail/mailer.ts'
import { Rates } from './rates/rates.ts'
import { toOpenSession } from './session/open-session.ts'
import { createId } from './session/random.ts'
import { Exchanger } from './upstream/exchange.ts'
import { ForwardedError, OperatorError } from './upstream/problem.ts'
import { Upstream } from './upstream/upstream.ts'

/** The part of `GET /wallets/payout` that is looked at. */
const payoutList = {
  method: 'GET',
  path: '/wallets/payout',
  summary: 'The wallets of the account',
  scope: 'wallets:manage',
  audience: 'key',
  response: v.object({ wallets: v.array(v.object({ walletAddress: v.string() })) }),
  problems: [],
} as const satisfies Endpoint

/** Of these wallets, those that the account of this program's key does not own; undefined where the key may not ask. */
export async function findUnowned({
  config,
  upstream,
}: Pick<ProxyContext, 'config' | 'upstream'>): Promise<string[] | undefined> {
  try {
    const { wallets } = await upstream.requestOwn(payoutList, { requestId: createId('req') })
    const owned = new Set(wallets.map(({ walletAddress }) => walletAddress))
    return config.sellerWallets.filter((wallet) => !owned.has(wallet))
  } catch (error) {
    if (error instanceof OperatorError && error.reason === 'scope_missing') return undefined
    if (error instanceof ForwardedError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

/** At the start: warns once, by name, of seller wallets that the account does not own. Never throws. `stopping`: aborted when the program ends. */
async function warnOfUnowned(context: ProxyContext, stopping: AbortSignal): Promise<void> {
  try {
    const unowned = await findUnowned(context)
    if (unowned === undefined) {
      context.log.info(
        'Whether the account owns SELLER_WALLETS is not known: SERVICE_API_KEY has no scope wallets:manage.',
      )
      return
    }
    if (unowned.length === 0) {
      context.log.info('The account of SERVICE_API_KEY owns all SELLER_WALLETS.')
      return
    }
    context.log.warn(
      { wallets: unowned },
      `The account of SERVICE_API_KEY does not own these SELLER_WALLETS: ${unowned.join(', ')}. Their payments are not counted as received, and other accounts ` +
        'can use them. Prove each with POST /wallets/payout/challenge and POST /wallets/payout, or have the operator of the service run ' +
        '`npm run admin -- wallet register`.',
    )
  } catch (error) {
    if (stopping.aborted) return
    context.log.warn(
      { err: error },
      'Whether the account owns SELLER_WALLETS could not be asked at the start.',
    )
  }
}

/** What requests under way get at the end; the whole stop stays under 10 seconds. */
const DRAIN_MS = 8000
/** After it, what became of the downloads that were cut off is noted within this time. */
const SETTLE_MS = 1000

export type RunningBff = {
  url: string
  port: number
  /** Of metrics and readiness; undefined where `INTERNAL_PORT` is not set. */
  internalPort?: number
  context: ProxyContext
  [Symbol.asyncDispose](): Promise<void>
}

/** What tests set: the clock, where the log goes, and how often streams are looked at. */
export type Overrides = {
  now?: () => Date
  logTo?: DestinationStream
  heartbeatMs?: number
  ringCapacity?: number
  /** How often events and e-mails are looked at. */
  mailEveryMs?: number
}

/** Opens the store, connects to the service's events, and serves. Disposing it stops accepting, finishes what is under way, and closes all. */
export async function createBff(config: BffConfig, overrides: Overrides = {}): Promise<RunningBff> {
  const log = createLog(config, overrides.logTo)
  for (const { network, publicRpcUrls } of config.networks)
    if (publicRpcUrls === undefined)
      log.warn(
        { network },
        'a network has no publicRpcUrls: browsers are told no RPC endpoint of it',
      )
  const now = overrides.now ?? (() => new Date())
  const database = await openDatabase(config.database, {
    ...BFF_SCHEMA,
    onWarning: (error) =>
      log.warn({ err: error }, 'the database connection was lost and is opened again'),
  })
  if (database.engine === 'postgres' && database.ownsTables)
    log.warn('the role of DATABASE_URL owns the tables and may delete them')
  const { db } = database
  const vault = await openVault({ config, db, log }).catch(async (error: unknown) => {
    await database[Symbol.asyncDispose]()
    throw error
  })
  const quota = new Quota(PLANS.standard.requestsPerMinute)
  const upstream = new Upstream({ config, log, quota, now })
  const hub = new EventHub({
    serviceUrl: config.serviceUrl,
    apiKey: config.serviceApiKey,
    log,
    findMakers: (paymentIds) => findMakers(db, paymentIds),
    noteStatus: (paymentId, status) =>
      (status === 'rolled_back'
        ? refreshRolledBack(context, paymentId)
        : noteStatusEvent(db, paymentId, status)
      ).catch((error: unknown) =>
        // It is asked about when somebody reads its link.
        log.warn({ err: error, paymentId }, 'the status of a payment was not written'),
      ),
    noteRefund: (paymentId) =>
      refreshRefunded(context, paymentId).catch((error: unknown) =>
        // It is asked about when somebody reads its link, and every few minutes.
        log.warn({ err: error, paymentId }, 'the refund of a payment was not written'),
      ),
    onPlan: (plan) =>
      quota.expect(PLANS[plan as Plan]?.requestsPerMinute ?? PLANS.standard.requestsPerMinute),
    capacity: overrides.ringCapacity,
  })
  hub.onChange(() => upstream.forgetReads())
  const standing = async (ids: string[]) => {
    const rows = await findSessions(db, ids, now())
    return new Map(rows.map((row) => [row.id, toOpenSession(row, config.operatorWallets)]))
  }
  const streams = new Streams({ hub, log, standing, heartbeatMs: overrides.heartbeatMs })
  const exchanger = new Exchanger()
  const reader = { networks: config.networks, exchanger, now: () => now().getTime() }
  const rates = new Rates(config.rates, { ...reader, log })
  const context: ProxyContext = {
    config,
    db,
    log,
    now,
    upstream,
    budgets: new Budgets(quota, now),
    deliveries: new Set(),
    hub,
    streams,
    rates,
    vault,
  }
  const onError = (error: unknown) => log.error({ err: error }, 'a request failed')

  const metrics = createProgramMetrics(database.readPool)
  const readiness = createReadiness(context)

  let internal: HttpServer | undefined
  let server: HttpServer
  try {
    if (config.internal)
      internal = await startInternalServer(config.internal, {
        readiness,
        register: metrics.register,
        now,
        onError,
      })
    const { fetch } = createApp(context, { metrics, readiness })
    server = await startHttpServer(config, { fetch, now, onError })
  } catch (error) {
    streams.stop()
    await internal?.stop(0)
    await database[Symbol.asyncDispose]()
    throw error
  }
  hub.start()
  const mailer = config.mail && new Mailer(context, config.mail, overrides.mailEveryMs)
  mailer?.start()
  const stopping = new AbortController()
  void warnOfUnowned(context, stopping.signal)
  const cleaner = setInterval(() => void sweep(context), HOUSEKEEPING_EVERY_MS)
  const extender = setInterval(() => void extendSendings(context), EXTEND_EVERY_MS)
  const { port } = server
  log.info({ port, internalPort: internal?.port, host: config.host }, 'listening')

  return {
    url: `http://${config.host}:${port}`,
    port,
    ...(internal && { internalPort: internal.port }),
    context,
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      clearInterval(cleaner)
      clearInterval(extender)
      streams.stop()
      hub.stop()
      // Together: whatever a mail server does, no new connection is accepted from here on.
      await Promise.all([server.stop(DRAIN_MS), mailer?.stop()])
      const settled = Promise.all([...context.deliveries].map((delivery) => delivery.settled))
      await Promise.race([settled, delay(SETTLE_MS, undefined, { ref: false })])
      await internal?.stop(0)
      upstream.close()
      exchanger.close()
      await database[Symbol.asyncDispose]()
      log.info('stopped')
    },
  }
}

/** @throws SignerConfigError */
async function openVault({
  config,
  db,
  log,
}: Pick<ProxyContext, 'config' | 'db' | 'log'>): Promise<ProxyContext['vault']> {
  const { vault, closed } = await openSourceVault({ config, db })
  if (closed.length > 0)
    log.warn(
      { vaultKeyIds: closed, sourceKeyId: vault?.keyId ?? null },
      'credentials of sources are sealed under other keys',
    )
  return vault
}

/** With the database restored and the service running: see `rebuildLinkPayments`. */
export async function rebuildLinks(config: BffConfig): Promise<number> {
  const log = createLog(config)
  await using database = await openDatabase(config.database, {
    ...BFF_SCHEMA,
    declaresRestore: true,
  })
  const quota = new Quota(PLANS.standard.requestsPerMinute)
  const upstream = new Upstream({ config, log, quota, now: () => new Date() })
  try {
    const added = await rebuildLinkPayments({ db: database.db, upstream })
    // The proxy takes the server as it is at its next start.
    await database.db.delete(postgresTimeline)
    return added
  } finally {
    upstream.close()
  }
}

/**
 * JSON lines. Nothing here logs headers, bodies or cookies; the redaction and the last look at the finished line are for the day someone does.
 */
function createLog(
  config: Pick<BffConfig, 'logLevel' | 'serviceApiKey'>,
  destination?: DestinationStream,
): Logger {
  const options = {
    level: config.logLevel,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [
        'authorization',
        'cookie',
        'apiKey',
        '*.authorization',
        '*.cookie',
        '*.apiKey',
        '*.headers',
        'serviceApiKey',
        '*.serviceApiKey',
      ],
      censor: '[redacted]',
    },
    serializers: { err: describeForLog },
    hooks: { streamWrite: (line: string) => line.replaceAll(config.serviceApiKey, '[redacted]') },
  }
  return destination ? pino(options, destination) : pino(options)
}
