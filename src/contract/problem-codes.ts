/**
 * Every error code a caller can meet, and whether the same request can succeed later. Codes are
 * never renamed. Status and texts are in problem.ts, which browsers do not load.
 */
export const RETRYABLE = {
  INVALID_PARAMETERS: false,
  INVALID_RECIPIENT: false,
  INSUFFICIENT_BALANCE: true,
  SIGNING_REFUSED: false,
  INVALID_PAYMENT_PROOF: false,
  UNAUTHORIZED: false,
  FORBIDDEN: false,
  NOT_FOUND: false,
  METHOD_NOT_ALLOWED: false,
  IDEMPOTENCY_CONFLICT: false,
  IDEMPOTENCY_IN_PROGRESS: true,
  PAYLOAD_TOO_LARGE: false,
  UNSUPPORTED_MEDIA_TYPE: false,
  RATE_LIMIT: true,
  PAYMENT_VERIFICATION_FAILED: true,
  CHAIN_UNAVAILABLE: true,
  SERVICE_UNAVAILABLE: true,
  INTERNAL: true,
} as const

export type ProblemCode = keyof typeof RETRYABLE
