import type * as v from 'valibot'
import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import type { Context } from '../context.ts'
import type { Visitor } from '../http/visitor.ts'

type BrowserEndpoints = typeof browserEndpoints
export type OwnEndpointName = keyof BrowserEndpoints
type Body<K extends OwnEndpointName> = BrowserEndpoints[K] extends { body: infer S extends v.GenericSchema } ? v.InferOutput<S> : undefined

export type OwnCall<K extends OwnEndpointName> = { context: Context; visitor: Visitor; body: Body<K> }

/** An endpoint that the proxy answers itself. */
export type OwnRule<K extends OwnEndpointName> = (call: OwnCall<K>) => Promise<{ value: v.InferInput<BrowserEndpoints[K]['response']>; cookies?: string[] }>
