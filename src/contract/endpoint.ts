import type * as v from 'valibot'
import type { Scope } from './api-key.ts'
import type { ProblemCode } from './problem.ts'

export type Schema = v.GenericSchema

export type Endpoint = {
  method: 'GET' | 'POST' | 'DELETE'
  /** Parameters as `:name`. */
  path: `/${string}`
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
  response: Schema
  /** The field of the answer that holds a secret. It is told once: such an answer is not kept under an idempotency key, a repetition is a conflict. */
  secret?: string
  /**
   * The answer's `status` may be `pending`: then it is 202, and under an idempotency key it is kept, or forgotten, so that a repetition looks again.
   */
  pending?: 'keep' | 'forget'
  /** An answer of `success: false` is not kept under an idempotency key: a repetition looks again. */
  forgetsFailures?: true
  /** Whether the answer waits for the outcome as long as the header `Prefer` says. */
  prefer?: true
  /** Beside those that every endpoint shares. */
  problems: readonly ProblemCode[]
}

/** Every endpoint may answer with these. */
export const commonProblems = [
  'INVALID_PARAMETERS',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMIT',
  'INTERNAL',
] as const satisfies ProblemCode[]
