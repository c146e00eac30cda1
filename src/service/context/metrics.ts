import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = {
  observeRequest(request: { route: string; method: string; status: number; seconds: number }): void
  openSockets: Gauge
  sentEvents: Counter
  stoppedWallets: Gauge
  contentType: string
  text(): Promise<string>
}

/** The metrics of one running service, in a separate registry: a process may run several. */
export function createMetrics(): Metrics {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [register],
  })
  return {
    observeRequest: ({ route, method, status, seconds }) =>
      duration.observe(
        { route, method: KNOWN_METHODS.has(method) ? method : 'other', status },
        seconds,
      ),
    openSockets: new Gauge({
      name: 'websocket_connections',
      help: 'Open connections of the event stream.',
      registers: [register],
    }),
    sentEvents: new Counter({
      name: 'websocket_events_total',
      help: 'Events sent to the event stream.',
      registers: [register],
    }),
    stoppedWallets: new Gauge({
      name: 'managed_wallets_stopped',
      help: 'Managed wallets whose books and chain differ.',
      registers: [register],
    }),
    contentType: register.contentType,
    text: () => register.metrics(),
  }
}

/** A caller may invent methods, which must not each become a time series. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
