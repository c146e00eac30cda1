import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

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
