import type * as v from 'valibot'
import type { Scope } from './api-key-body.ts'
import type { ProblemCode } from './problem-codes.ts'

export type Schema = v.GenericSchema

/**
 * What a client needs to call an endpoint and to read the answer. Without `response`: only the
 * address, of an endpoint that no browser calls.
 */
export type Call = {
  method: 'GET' | 'POST' | 'DELETE'
  /** Parameters as `:name`. */
  path: `/${string}`
  response?: Schema
}

/** A row of the service's table. */
export type Endpoint = Required<Call> & {
  summary: string
  /** The scope an API key needs. */
  scope: Scope
  /** Where the operator allows it, callers without a key are served as well. */
  keyless?: 'facilitator'
  /** Whether the proxy offers it to browsers under `/api`. */
  audience: 'key' | 'browser'
  params?: Schema
  query?: Schema
  body?: Schema
  /** The body holds a payment, with all that its seller announced: `parsePayment` reads it. */
  carriesPayment?: true
  /** The field of the answer that holds a secret. It is told once: such an answer is not kept under an idempotency key, a repetition is a conflict. */
  secret?: string
  /**
   * The answer's `status` may be `pending`: then it is 202, and under an idempotency key it is kept, or forgotten, so that a repetition looks again.
   */
  pending?: 'keep' | 'forget'
  /** What is kept under an idempotency key, all if unset. Otherwise a repetition looks again: always, or after `success: false`. */
  keeps?: 'success' | 'nothing'
  /** Whether the answer waits for the outcome as long as the header `Prefer` says. */
  prefer?: true
  /** Beside those that every endpoint shares. */
  problems: readonly ProblemCode[]
}

/** A row of the proxy's own table. */
export type BrowserEndpoint = Required<Call> & {
  body?: Schema
  /** The largest body, where it is more than of every other endpoint. Read only for who may call. */
  maxBytes?: number
}

type Joined<Calls, Rows> = {
  readonly [K in keyof Calls]: K extends keyof Rows ? Calls[K] & Rows[K] : Calls[K]
}

/** Each call with what only servers read of the same endpoint. */
export function joinRows<const Calls extends Record<string, Call>, const Rows extends object>(
  calls: Calls,
  rows: Rows,
): Joined<Calls, Rows> {
  const extra = new Map<string, object>(Object.entries(rows))
  const joined = Object.entries(calls).map(([name, call]) => [
    name,
    { ...call, ...extra.get(name) },
  ])
  // The entries are those of `calls`, in the same order; Object.fromEntries forgets their names.
  return Object.fromEntries(joined) as Joined<Calls, Rows>
}

/** Every endpoint may answer with these. */
export const commonProblems = [
  'INVALID_PARAMETERS',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMIT',
  'INTERNAL',
] as const satisfies ProblemCode[]
