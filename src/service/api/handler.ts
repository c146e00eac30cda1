import type { HttpBindings } from '@hono/node-server'
import type { EndpointInput, EndpointName, EndpointReply } from '#contract/endpoints.ts'
import type { Actor, Context, Authenticated } from '../context/context.ts'

/** What a route gets: everything that can be refused without knowing the route has been refused before. */
export type ServiceCall<K extends EndpointName> = {
  context: Context
  actor: Actor
  input: EndpointInput<K>
  requestId: string
  /** The request's `Idempotency-Key` and what it asks. */
  idempotency: { key: string; fingerprint: string } | undefined
  /** How long the answer may wait, by the header `Prefer`. */
  waitMs: number
}

/** Answers one endpoint, or throws `ProblemError`. */
export type Handler<K extends EndpointName> = (call: ServiceCall<K>) => Promise<EndpointReply<K>>

/** One handler for each endpoint: a missing one does not compile. */
export type Routes = { [K in EndpointName]: Handler<K> }

/** What the steps of a request know and hand on. */
export type HttpEnv = {
  Bindings: Partial<HttpBindings>
  Variables: {
    requestId: string
    /** Of the answer, by names in small letters. */
    headers: Record<string, string>
    /** The endpoint's name, for the log and the metrics; `unmatched` until a route is found. */
    route: string
    /** Undefined without a valid key. */
    caller: Authenticated | undefined
    /** The request as it was read so far, for the log. */
    requestInput: { params: Record<string, string>; query?: unknown; body?: unknown } | undefined
    /** The JSON of the response, for the log. */
    answered: string | undefined
  }
}
