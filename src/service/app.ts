import { Hono } from 'hono'
import { endpoints, type EndpointName } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { statusOf, type Readiness } from '#http/internal-server.ts'
import type { Context } from './context/context.ts'
import { mountDocs } from './api/docs.ts'
import type { HttpEnv, Routes } from './api/handler.ts'
import { addHeaders, envelope, handleError, respondJson, respondProblem } from './api/envelope.ts'
import { identify } from './api/identify.ts'
import { mountEndpoint } from './api/mount-endpoint.ts'
import type { Metrics } from './context/metrics.ts'
import { describeApi } from './openapi/describe-api.ts'

type Parts = { metrics: Pick<Metrics, 'observeRequest'>; readiness: () => Promise<Readiness> }

/** The service's HTTP face: operations first, then everything that is counted against a limit. */
export function createApp(
  context: Context,
  routes: Routes,
  { metrics, readiness }: Parts,
): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>()
  app.onError(handleError(context))
  app.use(envelope(context, metrics))
  mountOperations(app, readiness)

  app.use(identify(context))
  const description = JSON.stringify(describeApi())
  app.get('/openapi.json', (c) => {
    c.set('route', 'openapi')
    return respondJson(c, 200, description)
  })
  mountDocs(app)
  for (const name of Object.keys(endpoints) as EndpointName[])
    mountEndpoint(app, { context, routes }, name)
  mountRefusals(app, context)
  return app
}

/** Callers are told whether the service is ready, not what is broken: that is for the internal port. */
function mountOperations(app: Hono<HttpEnv>, readiness: Parts['readiness']): void {
  app.get('/health/live', (c) => {
    c.set('route', 'live')
    return respondJson(c, 200, JSON.stringify({ status: 'ok' }))
  })
  app.get('/health/ready', async (c) => {
    c.set('route', 'ready')
    const { status } = await readiness()
    return respondJson(c, statusOf({ status }), JSON.stringify({ status }))
  })
}

/** A known path with another method, then everything else. */
function mountRefusals(app: Hono<HttpEnv>, context: Context): void {
  const allowed = new Map<string, Set<string>>([
    ['/health/live', new Set(['GET'])],
    ['/health/ready', new Set(['GET'])],
    ['/openapi.json', new Set(['GET'])],
    ['/docs', new Set(['GET'])],
    ['/ws', new Set(['GET'])],
  ])
  for (const { path, method } of Object.values(endpoints))
    allowed.set(path, (allowed.get(path) ?? new Set()).add(method))
  for (const [path, methods] of allowed) {
    app.all(path, (c) => {
      if (path === '/ws' && (c.req.method === 'GET' || c.req.method === 'HEAD')) {
        throw new ProblemError('INVALID_PARAMETERS', {
          message: 'This path speaks WebSocket.',
          details: { Upgrade: 'Expected websocket.' },
        })
      }
      if (methods.has('GET')) methods.add('HEAD')
      addHeaders(c, { allow: [...methods].join(', ') })
      throw new ProblemError('METHOD_NOT_ALLOWED', {
        details: {
          method: `Expected ${[...methods].join(' or ')}, received ${c.req.method.slice(0, 20)}.`,
        },
      })
    })
  }
  app.notFound((c) =>
    respondProblem(
      c,
      new ProblemError('NOT_FOUND', { message: 'There is nothing at this path.' }),
      context.now(),
    ),
  )
}
