import type { DestinationStream } from 'pino'
import { type Plan, type Scope, SCOPES } from '#contract/api-key-body.ts'
import type { Network } from '#contract/network.ts'
import { startInternalServer } from '#http/internal-server.ts'
import { startHttpServer } from '#http/server.ts'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import { createApp } from '#service/app.ts'
import type { Context } from '#service/context/context.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import type { NewPayment } from '#service/db/payments.ts'
import { payment } from '#service/db/schema/payment.ts'
import { startNumbering } from '#service/api/events/numbering.ts'
import { EVENTS_PATH, startEventStream } from '#service/api/events/stream.ts'
import type { ReadPayment } from '#service/events/to-message.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { createKey } from '#service/keys/create-key.ts'
import { rememberCallers } from '#service/keys/known-callers.ts'
import { leaseTokens, Limits } from '#service/limits/limits.ts'
import { createLog } from '#service/context/log.ts'
import { createMetrics } from '#service/context/metrics.ts'
import { createReadiness } from '#service/health.ts'
import { examples } from '#service/openapi/examples.ts'
import type { Routes } from '#service/api/handler.ts'
import { startFlushing } from '#service/usage/read-usage.ts'
import { createRequestLog } from '#service/context/request-log.ts'
import { createUsageLog } from '#service/context/usage-log.ts'
import { openTestSigner } from './test-signer.ts'
import { checkResponse, type ReceivedResponse } from './described-responses.ts'

/** Handlers that answer with the reference's examples: for tests of what stands before and after a handler. */
export const exampleRoutes: Routes = {
  transactionSend: async () => examples.transactionSend.reply,
  transactionReceive: async () => examples.transactionReceive.reply,
  transactionSubmitted: async () => examples.transactionSubmitted.reply,
  transactionRelease: async () => examples.transactionRelease.reply,
  paymentReceive: async () => examples.paymentReceive.reply,
  facilitatorSupported: async () => examples.facilitatorSupported.reply,
  facilitatorVerify: async () => examples.facilitatorVerify.reply,
  facilitatorSettle: async () => examples.facilitatorSettle.reply,
  paymentStatus: async () => examples.paymentStatus.reply,
  paymentStatuses: async () => examples.paymentStatuses.reply,
  paymentHistory: async () => examples.paymentHistory.reply,
  paymentList: async () => examples.paymentList.reply,
  paymentSummary: async () => examples.paymentSummary.reply,
  customerList: async () => examples.customerList.reply,
  tokenInfo: async () => examples.tokenInfo.reply,
  paymentSend: async () => examples.paymentSend.reply,
  paymentRefund: async () => examples.paymentRefund.reply,
  transactionRefund: async () => examples.transactionRefund.reply,
  refundRequestList: async () => examples.refundRequestList.reply,
  refundRequestRead: async () => examples.refundRequestRead.reply,
  refundRequestCreate: async () => examples.refundRequestCreate.reply,
  refundRequestDecline: async () => examples.refundRequestDecline.reply,
  refundRequestReopen: async () => examples.refundRequestReopen.reply,
  unmatchedList: async () => examples.unmatchedList.reply,
  unmatchedAssign: async () => examples.unmatchedAssign.reply,
  unmatchedUnassign: async () => examples.unmatchedUnassign.reply,
  undeliveredList: async () => examples.undeliveredList.reply,
  undeliveredClose: async () => examples.undeliveredClose.reply,
  undeliveredReopen: async () => examples.undeliveredReopen.reply,
  walletList: async () => examples.walletList.reply,
  walletCreate: async () => examples.walletCreate.reply,
  payoutList: async () => examples.payoutList.reply,
  payoutChallenge: async () => examples.payoutChallenge.reply,
  payoutRegister: async () => examples.payoutRegister.reply,
  payoutRelease: async () => examples.payoutRelease.reply,
  apiKeyList: async () => examples.apiKeyList.reply,
  apiKeyCreate: async () => examples.apiKeyCreate.reply,
  apiKeyRotate: async () => examples.apiKeyRotate.reply,
  apiKeyDelete: async () => examples.apiKeyDelete.reply,
  usage: async () => examples.usage.reply,
  requestList: async () => examples.requestList.reply,
  eventList: async () => examples.eventList.reply,
  webhookList: async () => examples.webhookList.reply,
  webhookCreate: async () => examples.webhookCreate.reply,
  webhookUpdate: async () => examples.webhookUpdate.reply,
  webhookDelete: async () => examples.webhookDelete.reply,
  webhookRotate: async () => examples.webhookRotate.reply,
  webhookTest: async () => examples.webhookTest.reply,
  webhookDeliveries: async () => examples.webhookDeliveries.reply,
  webhookRedeliver: async () => examples.webhookRedeliver.reply,
}

export type TestApp = {
  url: string
  /** Of metrics and readiness. */
  internalUrl: string
  port: number
  context: Context
  [Symbol.asyncDispose](): Promise<void>
}

type Options = {
  target: DatabaseTarget
  /** Told to callers; no chain of theirs is asked. */
  networks?: Network[]
  routes?: Partial<Routes>
  now?: () => Date
  log?: DestinationStream
  readPayment?: ReadPayment
  limits?: Parameters<typeof startEventStream>[1]['limits']
  /** The chains, keys and settings of a service that has them; none otherwise. */
  parts?: Pick<Context, 'config' | 'chains' | 'signer'>
  trustedProxyHops?: number
}

/** The service's own HTTP server, pipeline and event stream over a real database, without chains unless it is given them. It fails at its end when an answer was not as `/openapi.json` says. */
export async function startTestApp({
  target,
  networks = [],
  routes,
  now = () => new Date(),
  log,
  readPayment = async () => examples.paymentStatus.reply,
  limits,
  parts,
  trustedProxyHops = 0,
}: Options): Promise<TestApp> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await openDatabase(target, SERVICE_SCHEMA))
  const requestLimits = new Limits({ lease: (requests) => leaseTokens(database.db, requests) })
  stack.defer(() => requestLimits.close())
  const keys = await rememberCallers(database)
  stack.defer(() => keys.stop())
  const signer = parts?.signer ?? stack.use(openTestSigner())
  const context: Context = {
    config: {
      host: '127.0.0.1',
      port: 0,
      trustedProxyHops,
      database: target,
      networks,
      logLevel: 'info',
      signer: { socket: 'unused' },
    },
    db: database.db,
    chains: new Map(),
    ...parts,
    signer,
    log: createLog(log ? 'debug' : 'silent', log),
    usage: createUsageLog(database.db),
    requests: createRequestLog(database.db),
    limits: requestLimits,
    callers: keys.callers,
    now,
  }
  stack.defer(startFlushing(context))
  stack.defer(await startNumbering(context, database.listen))
  const answers: ReceivedResponse[] = []
  stack.defer(() => {
    const wrong = new Set(answers.flatMap(checkResponse))
    if (wrong.size > 0)
      throw new Error(`Answers that are not as described:\n${[...wrong].join('\n')}`)
  })
  const metrics = createMetrics({ networks, db: database.db, readPool: database.readPool })
  const readiness = createReadiness(context)
  const events = await startEventStream(context, {
    listen: database.listen,
    metrics,
    readPayments: async (ids) =>
      new Map(await Promise.all(ids.map(async (id) => [id, await readPayment(id)] as const))),
    limits,
  })
  const onError = (error: unknown) => context.log.error({ err: error }, 'request failed')
  const internal = await startInternalServer(
    { host: '127.0.0.1', port: 0 },
    { readiness, register: metrics.register, now, onError },
  )
  stack.defer(() => internal.stop(0))
  const app = createApp(context, { ...exampleRoutes, ...routes }, { metrics, readiness })
  const server = await startHttpServer(context.config, {
    fetch: recorded(app.fetch, answers),
    now,
    onError,
    webSocket: { path: EVENTS_PATH, onUpgrade: events.onUpgrade },
  })
  stack.defer(async () => void (await Promise.all([server.stop(5_000), events.stop()])))
  const running = stack.move()
  return {
    url: `http://127.0.0.1:${server.port}`,
    internalUrl: `http://127.0.0.1:${internal.port}`,
    port: server.port,
    context,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

type Fetch = Parameters<typeof startHttpServer>[1]['fetch']

/** Passes answers on and keeps those that the description of the API is about. */
function recorded(fetch: Fetch, answers: ReceivedResponse[]): Fetch {
  return async (request, env) => {
    const response = (await fetch(request, env)) as Response
    const { pathname } = new URL(request.url)
    const described = !/^\/(health|docs|openapi\.json)/.test(pathname) && request.method !== 'HEAD'
    if (described)
      answers.push({
        method: request.method,
        path: pathname,
        status: response.status,
        headers: response.headers,
        body: await response.clone().json(),
      })
    return response
  }
}

/** An account with one key. */
export async function createTestKey(
  db: Database,
  options: { scopes?: readonly Scope[]; plan?: Plan; expiresAt?: Date } = {},
): Promise<{ accountId: string; id: string; key: string }> {
  const { scopes = SCOPES, plan = 'premium', expiresAt } = options
  const account = await createAccount(db, { name: 'test', plan: 'premium' })
  return {
    accountId: account.id,
    ...(await createKey(db, {
      accountId: account.id,
      name: 'test',
      scopes,
      plan,
      environment: 'test',
      expiresAt,
    })),
  }
}

/** A payment's row, for tests of what hangs on one. */
export async function insertTestPayment(
  db: Database,
  row: Partial<NewPayment> & Pick<NewPayment, 'id' | 'accountId'>,
): Promise<void> {
  const { paymentStatus } = examples
  const { network, asset, symbol, decimals, amountAtomic, sender, recipient } = paymentStatus.reply
  await db.insert(payment).values({
    mode: 'local',
    status: 'created',
    network,
    asset,
    symbol,
    decimals,
    amount: BigInt(amountAtomic),
    sender,
    recipient,
    ...row,
  })
}
