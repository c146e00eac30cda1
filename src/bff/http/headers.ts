import { CONFIRM_HEADER, REQUESTED_BY } from '#contract/dashboard-endpoints.ts'
import { APPROVAL_HEADER } from '#contract/approval.ts'

/**
 * On every answer. It is data for one session: nothing keeps it, frames it, runs it or sniffs it.
 * Not with Hono's `secureHeaders`: it sets headers after the handler, too late for the event stream. Called before it, it makes Hono copy the
 * mark of a response that was already sent, and the server writes its headers again.
 */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
}

/** What the web app on another origin may read. */
export const EXPOSED_HEADERS = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Idempotent-Replayed',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
] as const

const ALLOWED_HEADERS = [
  'Content-Type',
  REQUESTED_BY.name,
  CONFIRM_HEADER,
  APPROVAL_HEADER,
  'Idempotency-Key',
  'Last-Event-ID',
] as const

/** `origin` only when it is in the list: an answer to any other carries no CORS header at all. */
export function commonHeaders(
  requestId: string,
  origin: string | undefined,
): Record<string, string> {
  return {
    ...SECURITY_HEADERS,
    Vary: 'Origin',
    'X-Request-Id': requestId,
    ...(origin !== undefined && {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
    }),
  }
}

export function preflightHeaders(): Record<string, string> {
  return {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': ALLOWED_HEADERS.join(', '),
    'Access-Control-Max-Age': '600',
    Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  }
}
