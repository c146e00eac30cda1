import type * as v from 'valibot'
import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import type { ProxyContext } from '../context/context.ts'
import type { Visitor } from './visitor.ts'

type BrowserEndpoints = typeof browserEndpoints
export type OwnEndpointName = keyof BrowserEndpoints
type Body<K extends OwnEndpointName> = BrowserEndpoints[K] extends {
  body: infer S extends v.GenericSchema
}
  ? v.InferOutput<S>
  : undefined

export type OwnCall<K extends OwnEndpointName> = {
  context: ProxyContext
  visitor: Visitor
  body: Body<K>
  requestId: string
  idempotencyKey: string | undefined
  /** What the person's wallet signed for this request, from `X-Approval`. */
  approval?: string | undefined
}
export type OwnReply<K extends OwnEndpointName> = {
  value: v.InferInput<BrowserEndpoints[K]['response']>
  cookies?: string[] | undefined
  headers?: Readonly<Record<string, string>>
}

/** An endpoint that the proxy answers itself. */
export type OwnRule<K extends OwnEndpointName> = (call: OwnCall<K>) => Promise<OwnReply<K>>
