import type { EndpointInput, EndpointName, EndpointReply } from '#contract/endpoints.ts'
import type { Actor, Context } from '../context/context.ts'

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
