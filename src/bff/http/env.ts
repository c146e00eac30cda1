import type { HttpBindings } from '@hono/node-server'
import type { Context as HonoContext } from 'hono'

/** What a request carries through the app. */
export type HonoEnv = {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    /** An allowed one, or nothing. */
    origin: string | undefined
    /** The row of the table it met, for the log: paths hold ids and addresses. */
    route: string
  }
}

export type HttpContext = HonoContext<HonoEnv>
