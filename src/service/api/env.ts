import type { HttpBindings } from '@hono/node-server'
import type { Logger } from 'pino'
import type { Authenticated } from '../context/context.ts'

/** What the steps of a request know and hand on. */
export type HttpEnv = {
  Bindings: Partial<HttpBindings>
  Variables: {
    requestId: string
    log: Logger
    /** The endpoint's name, for the log and the metrics; `unmatched` until a route is found. */
    route: string
    /** Undefined without a valid key. */
    caller: Authenticated | undefined
    /** The request as it was read so far, for the log. */
    asked: { params: Record<string, string>; query?: unknown; body?: unknown } | undefined
    /** The JSON of the response, for the log. */
    answered: string | undefined
  }
}
