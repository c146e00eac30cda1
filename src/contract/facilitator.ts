import * as v from 'valibot'
import { noNul } from './fields.ts'
import { ProofCheck } from './proof.ts'

/** The x402 facilitator interface, both versions, as its clients send it. What is within is read by the programs that settle. */
export const FacilitatorInput = v.strictObject({
  /** 1 or 2, as the payment's own; another one is answered with a reason of x402. */
  x402Version: v.optional(v.number()),
  paymentPayload: v.pipe(v.record(v.string(), v.unknown()), noNul()),
  paymentRequirements: v.pipe(v.record(v.string(), v.unknown()), noNul()),
})
export type FacilitatorInput = v.InferOutput<typeof FacilitatorInput>

export const FacilitatorVerifyBody = v.object({
  isValid: v.boolean(),
  invalidReason: v.optional(v.string()),
  /** Which check did not hold, in words. */
  invalidMessage: v.optional(v.string()),
  payer: v.optional(v.string()),
  /** Addition, where x402 leaves room for one: what was checked, in its order. */
  extra: v.optional(v.object({ checks: v.array(ProofCheck) })),
})

export const FacilitatorSettleBody = v.object({
  success: v.boolean(),
  errorReason: v.optional(v.string()),
  errorMessage: v.optional(v.string()),
  payer: v.optional(v.string()),
  /** Hash or signature of the settlement, also of one that is still pending; empty when the settlement failed. */
  transaction: v.string(),
  network: v.string(),
  /** Addition: the payment that the service recorded. */
  paymentId: v.optional(v.string()),
})

export const FacilitatorSupportedBody = v.object({
  kinds: v.array(
    v.object({
      x402Version: v.picklist([1, 2]),
      scheme: v.string(),
      network: v.string(),
      extra: v.record(v.string(), v.unknown()),
    }),
  ),
  extensions: v.array(v.string()),
  signers: v.record(v.string(), v.array(v.string())),
})
