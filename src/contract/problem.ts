import type { ProblemCode } from './problem-codes.ts'
import type { PlainReasonCode, WireReason } from './reasons.ts'

/** Of every problem its HTTP status, and for callers of the API its title and what they can do. */
export const problems = {
  INVALID_PARAMETERS: {
    status: 400,
    title: 'The request is not valid.',
    hint: 'Correct the fields named in details and send it again.',
  },
  INVALID_RECIPIENT: {
    status: 400,
    title: 'The recipient cannot receive this payment.',
    hint: 'Check the address with its owner.',
  },
  INSUFFICIENT_BALANCE: {
    status: 400,
    title: 'The wallet does not hold enough.',
    hint: 'Add funds, or pay a smaller amount.',
  },
  SIGNING_REFUSED: {
    status: 400,
    title: 'The signer does not sign this payment. Nothing was sent.',
    hint: 'The limit and what was asked are in details. The operator sets the limits.',
  },
  INVALID_PAYMENT_PROOF: {
    status: 400,
    title: 'The payment proof is not valid.',
    hint: 'Ask the payer for a fresh proof.',
  },
  UNAUTHORIZED: {
    status: 401,
    title: 'The API key is missing or not valid.',
    hint: 'Send Authorization: Bearer <API key>.',
  },
  FORBIDDEN: {
    status: 403,
    title: 'This API key may not do that.',
    hint: 'Use a key with the scope named in details.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'There is nothing here under this name.',
    hint: 'Check the id and the account.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'This path does not take that method.',
    hint: 'Use a method named in the Allow header.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    title: 'This Idempotency-Key was used with another request.',
    hint: 'Use a new key for a new request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    title: 'A request with this Idempotency-Key is still running.',
    hint: 'Wait and send the same request again.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'The body is too large.',
    hint: 'Send at most 64 KiB.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The body is not JSON.',
    hint: 'Send Content-Type: application/json.',
  },
  RATE_LIMIT: {
    status: 429,
    title: 'Too many requests.',
    hint: 'Wait for the seconds in Retry-After, then go on.',
  },
  PAYMENT_VERIFICATION_FAILED: {
    status: 502,
    title: 'The payment could not be verified. Nothing is decided.',
    hint: 'Send the same request again.',
  },
  CHAIN_UNAVAILABLE: {
    status: 503,
    title: 'The network cannot be reached.',
    hint: 'Wait for the seconds in Retry-After, then go on.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    title: 'The payment service cannot be reached from here.',
    hint: 'Wait for the seconds in Retry-After, then go on. details.operator tells the operator what to do.',
  },
  INTERNAL: {
    status: 500,
    title: 'Something failed on our side.',
    hint: 'Try again; if it stays, report the request id.',
  },
} as const satisfies Record<ProblemCode, Problem>

export type Problem = { status: number; title: string; hint: string }

export type ProblemFacts = {
  /** What a caller reads instead of the registry's title. */
  message?: string
  /** Why, for programs: it becomes `details.reason`, always a code with its parameters. */
  reason?: PlainReasonCode | WireReason
  /** By field: what was expected and what was received; or the figures of the refusal. Never a secret. */
  details?: Record<string, unknown> & { reason?: never }
  /** Seconds until a retry can help. */
  retryAfter?: number
}

/** An outcome that the caller of the API is told. Everything else that is thrown becomes `INTERNAL`. */
export class ProblemError extends Error {
  override name = 'ProblemError'
  readonly code: ProblemCode
  readonly facts: Omit<ProblemFacts, 'reason' | 'details'> & { details?: Record<string, unknown> }

  constructor(code: ProblemCode, facts: ProblemFacts = {}, options?: ErrorOptions) {
    super(facts.message ?? problems[code].title, options)
    const { reason, details, ...rest } = facts
    this.code = code
    this.facts =
      reason === undefined
        ? { ...rest, ...(details && { details }) }
        : { ...rest, details: { reason: toWireReason(reason), ...details } }
  }
}

function toWireReason(reason: PlainReasonCode | WireReason): WireReason {
  return typeof reason === 'string' ? { code: reason, params: {} } : reason
}

export type ErrorBody = {
  success: false
  error: {
    code: ProblemCode
    message: string
    details?: Record<string, unknown>
    retryAfter?: number
    requestId: string
  }
  timestamp: number
}

/** The one error envelope. */
export function errorBody(problem: ProblemError, requestId: string, now: number): ErrorBody {
  const { details, retryAfter } = problem.facts
  return {
    success: false,
    error: {
      code: problem.code,
      message: problem.message,
      ...(details && { details }),
      ...(retryAfter !== undefined && { retryAfter }),
      requestId,
    },
    timestamp: now,
  }
}
