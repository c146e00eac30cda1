import * as v from 'valibot'
import { loggedAs, noNul, publicText } from './fields.ts'
import { ProofCheck } from './proof.ts'

/** What the request log shows of a payment's terms; never of what the payer signed. */
const shownTerms = v.object({
  scheme: publicText,
  network: publicText,
  asset: publicText,
  amount: publicText,
  maxAmountRequired: publicText,
  payTo: publicText,
  maxTimeoutSeconds: v.number(),
})

/** The x402 facilitator interface, both versions, as its clients send it. What is within is read by the programs that settle. */
export const FacilitatorInput = v.strictObject({
  /** 1 or 2, as the payment's own; another one is answered with a reason of x402. */
  x402Version: v.optional(v.number()),
  paymentPayload: v.pipe(
    v.record(v.string(), v.unknown()),
    noNul(),
    loggedAs(
      v.object({
        x402Version: v.number(),
        scheme: publicText,
        network: publicText,
        accepted: shownTerms,
      }),
    ),
  ),
  paymentRequirements: v.pipe(v.record(v.string(), v.unknown()), noNul(), loggedAs(shownTerms)),
})
export type FacilitatorInput = v.InferOutput<typeof FacilitatorInput>

/** What the rows of `/facilitator/verify` and `/facilitator/settle` have in common. */
export const presentedPayment = {
  scope: 'payment:receive',
  keyless: 'facilitator',
  body: FacilitatorInput,
  carriesPayment: true,
} as const

export const FacilitatorVerifyBody = v.object({
  isValid: v.boolean(),
  invalidReason: v.optional(publicText),
  /** Which check did not hold, in words. */
  invalidMessage: v.optional(v.string()),
  payer: v.optional(publicText),
  /** Addition, where x402 leaves room for one: what was checked, in its order. */
  extra: v.optional(v.object({ checks: v.array(ProofCheck) })),
})

export const FacilitatorSettleBody = v.object({
  success: v.boolean(),
  errorReason: v.optional(publicText),
  errorMessage: v.optional(v.string()),
  payer: v.optional(publicText),
  /** Hash or signature of the settlement, also of one that is still pending; empty when the settlement failed. */
  transaction: publicText,
  network: publicText,
  /** Addition: the payment that the service recorded. */
  paymentId: v.optional(publicText),
})

export const FacilitatorSupportedBody = v.object({
  kinds: v.array(
    v.object({
      x402Version: v.picklist([1, 2]),
      scheme: publicText,
      network: publicText,
      extra: v.record(v.string(), v.unknown()),
    }),
  ),
  extensions: v.array(v.string()),
  signers: v.record(v.string(), v.array(v.string())),
})
