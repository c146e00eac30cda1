import type { DestinationStream } from 'pino'
import { PLANS, type Plan } from '#contract/api-key.ts'
import { startInternalServer } from '#http/internal-server.ts'
import { createProgramMetrics } from '#http/metrics.ts'
import { startHttpServer, type HttpServer } from '#http/server.ts'
import { openDatabase } from '#postgres/open.ts'
import { openFileVault } from '#signer/vaults.ts'
import { createApp } from './app.ts'
import { Budgets } from './budget/budgets.ts'
import { Quota } from './budget/quota.ts'
import { warnOfUnowned } from './check-seller-wallets.ts'
import type { BffConfig } from './config/config.ts'
import type { ProxyContext } from './context/context.ts'
import { deleteExpiredChallenges } from './db/challenges.ts'
import { deleteExpiredTickets, deleteOldPresenters } from './db/files.ts'
import { deleteExpiredInvitations } from './db/people.ts'
import { deleteUnpaidContacts } from './db/contacts.ts'
import { noteStatusEvent } from './db/links.ts'
import { deleteOldMail } from './db/mail.ts'
import { deleteExpiredIntents } from './db/hosted.ts'
import { BFF_SCHEMA } from './db/migrations-folder.ts'
import { deleteExpiredSessions, findMakers, findSessions } from './db/sessions.ts'
import { EventHub } from './events/hub.ts'
import { Streams } from './events/streams.ts'
import { createReadiness } from './health.ts'
import { createLog } from './config/log.ts'
import { Mailer } from './mail/mailer.ts'
import { settleLostDeliveries } from './files/deliver.ts'
import { refreshOldContacts } from './links/refresh.ts'
import { toOpenSession } from './session/open-session.ts'
import { Rates } from './rates/rates.ts'
import { Exchanger } from './upstream/exchange.ts'
import { Upstream } from './upstream/upstream.ts'

const CLEAN_EVERY_MS = 10 * 60_000
/** What requests under way get at the end; the whole stop stays under 10 seconds. */
const DRAIN_MS = 8000

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
  beatMs?: number
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
  const { keyFile } = config.files ?? {}
  const vault = keyFile === undefined ? undefined : openFileVault(keyFile, 'SOURCE_KEY_FILE')
  const database = await openDatabase(config.database, {
    ...BFF_SCHEMA,
    onWarning: (error) =>
      log.warn({ err: error }, 'the database connection was lost and is opened again'),
  })
  if (database.engine === 'postgres' && database.ownsTables)
    log.warn('the role of DATABASE_URL owns the tables and may delete them')
  const { db } = database
  const quota = new Quota(PLANS.standard.requestsPerMinute)
  const upstream = new Upstream({ config, log, quota, now })
  const hub = new EventHub({
    serviceUrl: config.serviceUrl,
    apiKey: config.serviceApiKey,
    log,
    findMakers: (paymentIds) => findMakers(db, paymentIds),
    noteStatus: (paymentId, status) =>
      noteStatusEvent(db, paymentId, status).catch((error: unknown) =>
        // It is asked about when somebody reads its link.
        log.warn({ err: error, paymentId }, 'the status of a payment was not written'),
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
  const streams = new Streams({ hub, log, standing, beatMs: overrides.beatMs })
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
  const cleaner = setInterval(() => void clean(context), CLEAN_EVERY_MS)
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
      streams.stop()
      hub.stop()
      await mailer?.stop()
      await server.stop(DRAIN_MS)
      await internal?.stop(0)
      upstream.close()
      exchanger.close()
      await database[Symbol.asyncDispose]()
      log.info('stopped')
    },
  }
}

async function clean(context: ProxyContext): Promise<void> {
  try {
    await deleteExpiredChallenges(context.db, context.now())
    await deleteExpiredInvitations(context.db, context.now())
    await deleteExpiredSessions(context.db, context.now())
    await deleteExpiredIntents(context.db, context.now())
    await deleteExpiredTickets(context.db, context.now())
    await deleteOldPresenters(context.db, context.now())
    await settleLostDeliveries(context)
    await deleteOldMail(context.db, context.now())
    // Last: it asks the service, which may not answer.
    await refreshOldContacts(context)
    await deleteUnpaidContacts(context.db, context.now())
  } catch (error) {
    context.log.warn({ err: error }, 'expired rows could not be removed')
  }
}
