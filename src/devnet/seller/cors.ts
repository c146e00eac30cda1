import type { MiddlewareHandler } from 'hono'
import { readDemo } from './demo.ts'

/** The official client sends the last one as a header of its request. */
const ASKED =
  'x-payment, payment-signature, idempotency-key, content-type, access-control-expose-headers'
const TOLD = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Retry-After'

/** Any page may pay here: nothing depends on who asks, only on what was paid. */
export const applyCors: MiddlewareHandler = async (c, next) => {
  c.header('Access-Control-Allow-Origin', '*')
  c.header('Cache-Control', 'no-store')
  c.header('X-Content-Type-Options', 'nosniff')
  if (!readDemo(c.req.query('demo')).has('hidden-headers'))
    c.header('Access-Control-Expose-Headers', TOLD)
  if (c.req.method !== 'OPTIONS') return next()
  return c.body(null, 204, {
    'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
    'Access-Control-Allow-Headers': ASKED,
    'Access-Control-Max-Age': '600',
  })
}
