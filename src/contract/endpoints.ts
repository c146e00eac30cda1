import type * as v from 'valibot'
import type { Endpoint, Schema } from './endpoint.ts'
import { keyEndpoints } from './key-endpoints.ts'
import { paymentEndpoints } from './payment-endpoints.ts'
import { proofEndpoints } from './proof-endpoints.ts'
import { refundEndpoints } from './refund-endpoints.ts'
import { tokenEndpoints } from './token-endpoints.ts'
import { transactionEndpoints } from './transaction-endpoints.ts'
import { undeliveredEndpoints } from './undelivered-endpoints.ts'
import { unmatchedEndpoints } from './unmatched-endpoints.ts'
import { walletEndpoints } from './wallet-endpoints.ts'

/**
 * The service's API, one row an endpoint. Routes, clients, the proxy's allow-list, OpenAPI and tests are all derived from it.
 * Paths, fields and rules are those of the specification (sections 2 and 4); additions are marked as such.
 */
export const endpoints = {
  ...transactionEndpoints,
  ...proofEndpoints,
  ...paymentEndpoints,
  ...refundEndpoints,
  ...unmatchedEndpoints,
  ...undeliveredEndpoints,
  ...tokenEndpoints,
  ...keyEndpoints,
  ...walletEndpoints,
} as const satisfies Record<string, Endpoint>

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

type Part<K extends EndpointName, P extends 'params' | 'query' | 'body'> =
  Endpoints[K] extends Record<P, infer S extends Schema> ? S : never

/** What a handler gets, after parsing. */
export type EndpointInput<K extends EndpointName> = {
  params: [Part<K, 'params'>] extends [never] ? undefined : v.InferOutput<Part<K, 'params'>>
  query: [Part<K, 'query'>] extends [never] ? undefined : v.InferOutput<Part<K, 'query'>>
  body: [Part<K, 'body'>] extends [never] ? undefined : v.InferOutput<Part<K, 'body'>>
}

/** What a client sends, before parsing. */
export type EndpointRequest<K extends EndpointName> = ([Part<K, 'params'>] extends [never]
  ? { params?: undefined }
  : { params: v.InferInput<Part<K, 'params'>> }) &
  ([Part<K, 'query'>] extends [never]
    ? { query?: undefined }
    : { query?: v.InferInput<Part<K, 'query'>> }) &
  ([Part<K, 'body'>] extends [never]
    ? { body?: undefined }
    : { body: v.InferInput<Part<K, 'body'>> })

/** What a handler returns; amounts as numbers or `LosslessNumber`. */
export type EndpointReply<K extends EndpointName> = v.InferInput<Endpoints[K]['response']>

/** What a client reads; amounts as their source text. */
export type EndpointResponse<K extends EndpointName> = v.InferOutput<Endpoints[K]['response']>
