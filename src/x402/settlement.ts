import * as v from 'valibot'
import { encodeHeader } from './header.ts'

/** What a facilitator answers; the same in both versions. */

const reason = v.optional(v.pipe(v.string(), v.maxLength(256)))
const payer = v.optional(v.pipe(v.string(), v.maxLength(128)))

export const VerifyResponse = v.object({ isValid: v.boolean(), invalidReason: reason, payer })
export type VerifyResponse = v.InferOutput<typeof VerifyResponse>

export const SettleResponse = v.object({
  success: v.boolean(),
  errorReason: reason,
  payer,
  /** Hash or signature; empty when nothing was broadcast. */
  transaction: v.pipe(v.string(), v.maxLength(128)),
  network: v.pipe(v.string(), v.maxLength(64)),
})
export type SettleResponse = v.InferOutput<typeof SettleResponse>

/** The value of `PAYMENT-RESPONSE` and of `X-PAYMENT-RESPONSE`. */
export function encodeSettlement(response: SettleResponse): string {
  return encodeHeader(response)
}
