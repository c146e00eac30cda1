import { Hono } from 'hono'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import { DOWNLOAD_PATH, FILE_PATH } from '#contract/file-endpoints.ts'
import { UNSUBSCRIBE_PATH } from '#contract/mail-endpoints.ts'
import { EVENTS_PATH } from '#contract/dashboard-endpoints.ts'
import { endpoints } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { statusOf, type Readiness, type ProgramMetrics } from '#http/internal-server.ts'
import type { ProxyContext } from './context/context.ts'
import { mountMethodRefusals, refusal } from './http/guard.ts'
import { type HonoEnv, type HttpContext, replyProblem } from './http/reply.ts'
import { commonHeaders, preflightHeaders } from './http/headers.ts'
import {
  mountEndpoint,
  mountOwnEndpoint,
  mountEvents,
  mountFiles,
} from './routes/mount-endpoint.ts'
import { mountUnsubscribe } from './routes/mail.ts'
import { ownRoutes } from './routes/own-routes.ts'
import { routes } from './routes/routes.ts'
import type { OwnEndpointName, BrowserEndpointName } from './session/rule.ts'
import { createId } from './session/random.ts'

type Parts = {
  metrics: Pick<ProgramMetrics, 'observeRequest'>
  readiness: () => Promise<Readiness>
}

/** Everything a request passes, outermost first: its name and headers, its origin, its row of the table. */
export function createApp(context: ProxyContext, { metrics, readiness }: Parts): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>()
  app.onError((error, c) => replyProblem(c, error, context))
  app.notFound((c) =>
    replyProblem(
      c,
      new ProblemError('NOT_FOUND', { message: 'There is nothing at this path.' }),
      context,
    ),
  )
  app.use('*', async (c, next) => {
    const startedAt = performance.now()
    const origin = c.req.header('origin')
    c.set('requestId', createId('req'))
    c.set('route', 'none')
    c.set(
      'origin',
      origin !== undefined && context.config.allowedOrigins.includes(origin) ? origin : undefined,
    )
    for (const [name, value] of Object.entries(commonHeaders(c.get('requestId'), c.get('origin'))))
      c.header(name, value)
    await next()
    const ms = performance.now() - startedAt
    metrics.observeRequest({
      route: c.get('route'),
      method: c.req.method,
      status: c.res.status,
      seconds: ms / 1000,
    })
    logRequest(context, c, ms)
  })
  // Before the rules for pages: programs and links of other sites read files here, and no cookie counts.
  mountFiles(app, context)
  mountUnsubscribe(app, context)
  app.use('/api/*', (c, next) => {
    const reason = refusal(factsOf(c), context.config.allowedOrigins)
    // A preflight asks on behalf of a request that will bring the rest.
    if (c.req.method === 'OPTIONS') return Promise.resolve(answerPreflight(c))
    if (reason !== undefined)
      throw new ProblemError('FORBIDDEN', {
        message: reason,
        reason: 'foreign_request',
      })
    return next()
  })
  mountHealth(app, readiness)
  mountEvents(app, context)
  for (const name of Object.keys(ownRoutes) as OwnEndpointName[])
    mountOwnEndpoint(app, context, name)
  for (const name of Object.keys(routes) as BrowserEndpointName[]) mountEndpoint(app, context, name)
  mountMethodRefusals(app, knownPaths(context))
  return app
}

function answerPreflight(c: HttpContext): Response {
  if (c.get('origin') === undefined)
    throw new ProblemError('FORBIDDEN', {
      message: 'This server does not accept requests from this origin.',
    })
  return c.body(null, 204, preflightHeaders())
}

function factsOf(c: HttpContext) {
  return {
    method: c.req.method,
    origin: c.req.header('origin'),
    secFetchSite: c.req.header('sec-fetch-site'),
    secFetchMode: c.req.header('sec-fetch-mode'),
    secFetchDest: c.req.header('sec-fetch-dest'),
    requestedBy: c.req.header('x-requested-by'),
  }
}

function knownPaths({ config }: Pick<ProxyContext, 'config'>): { method: string; path: string }[] {
  const offered = (Object.keys(routes) as BrowserEndpointName[]).map((name) => endpoints[name])
  return [
    ...[...offered, ...Object.values(browserEndpoints)].map(({ method, path }) => ({
      method,
      path: `/api${path}`,
    })),
    ...(config.files ? [FILE_PATH, DOWNLOAD_PATH] : []).map((path) => ({ method: 'GET', path })),
    { method: 'GET', path: EVENTS_PATH },
    { method: 'GET', path: UNSUBSCRIBE_PATH },
    { method: 'POST', path: UNSUBSCRIBE_PATH },
    { method: 'GET', path: '/health/live' },
    { method: 'GET', path: '/health/ready' },
  ]
}

function logRequest(context: ProxyContext, c: HttpContext, ms: number): void {
  const line = {
    requestId: c.get('requestId'),
    method: c.req.method,
    route: c.get('route'),
    status: c.res.status,
    ms: Math.round(ms),
  }
  if (c.res.status >= 500) context.log.warn(line, 'request')
  else context.log.info(line, 'request')
}

/** Callers are told whether the proxy is ready, not what is broken: that is for the internal port. */
function mountHealth(app: Hono<HonoEnv>, readiness: Parts['readiness']): void {
  app.get('/health/live', (c) => {
    c.set('route', 'live')
    return c.json({ status: 'ok' })
  })
  app.get('/health/ready', async (c) => {
    c.set('route', 'ready')
    const { status } = await readiness()
    return c.json({ status }, statusOf({ status }))
  })
}
