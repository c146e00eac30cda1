import { Gauge, Registry, collectDefaultMetrics, Histogram } from 'prom-client'
import { startHttpServer, type HttpServer } from './server.ts'

/** Where a program tells its operator what it must not tell callers. */
export type InternalPort = { host: string; port: number }

export type HealthCheck = { name: string; ok: boolean }

/** What `GET /health/ready` tells the operator. Callers get the status alone. */
export type Readiness = { status: 'ok' | 'unavailable'; checks: readonly HealthCheck[] }

type Options = {
  readiness: () => Promise<Readiness>
  register: Registry
  now: () => Date
  onError: (error: unknown) => void
}

/** Metrics and the single checks of readiness, for the operator's own network. It asks for no key. */
export function startInternalServer(
  { host, port }: InternalPort,
  { readiness, register, now, onError }: Options,
): Promise<HttpServer> {
  const checkGauge = new Gauge({
    name: 'readiness_check',
    help: '1 when this check of readiness passes, 0 when it fails.',
    labelNames: ['check'],
    registers: [register],
    collect: async () => {
      const { checks } = await readiness()
      for (const { name, ok } of checks) checkGauge.set({ check: name }, ok ? 1 : 0)
    },
  })
  const routes: Record<string, () => Promise<Response>> = {
    '/metrics': async () =>
      new Response(await register.metrics(), { headers: { 'Content-Type': register.contentType } }),
    '/health/live': async () => Response.json({ status: 'ok' }),
    '/health/ready': async () => {
      const found = await readiness()
      return Response.json(found, { status: statusOf(found) })
    },
  }
  return startHttpServer(
    { host, port, trustedProxyHops: 0 },
    {
      fetch: async (request) => {
        const answer = routes[new URL(request.url).pathname]
        if (!answer) return new Response('Not found\n', { status: 404 })
        return request.method === 'GET' || request.method === 'HEAD'
          ? answer()
          : new Response('Expected GET\n', { status: 405, headers: { Allow: 'GET, HEAD' } })
      },
      now,
      onError,
    },
  )
}

export function statusOf({ status }: Pick<Readiness, 'status'>): 200 | 503 {
  return status === 'ok' ? 200 : 503
}

/** What every program counts, in a separate registry: a process may run several programs. */
export type ProgramMetrics = {
  register: Registry
  observeRequest(request: { route: string; method: string; status: number; seconds: number }): void
}

/** The connections of a database pool. */
export type PoolSize = { idle: number; used: number; waiting: number }

/** `readPool`: absent where the database is embedded. */
export function createProgramMetrics(readPool?: () => PoolSize): ProgramMetrics {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [register],
  })
  if (readPool) {
    const pool = new Gauge({
      name: 'database_connections',
      help: 'Connections of the pool by state; waiting: requests for one.',
      labelNames: ['state'],
      registers: [register],
      collect: () => {
        for (const [state, count] of Object.entries(readPool())) pool.set({ state }, count)
      },
    })
  }
  return {
    register,
    observeRequest: ({ route, method, status, seconds }) =>
      duration.observe(
        { route, method: KNOWN_METHODS.has(method) ? method : 'other', status },
        seconds,
      ),
  }
}

/** A caller may invent methods, which must not each become a time series. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
