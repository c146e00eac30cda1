import * as v from 'valibot'
import { fieldProblemOf } from '#contract/explain-issue.ts'
import type { DecodeProblem, FieldFormat } from '#contract/reasons.ts'
import { decodeHeader, decodeBase64, encodeHeader } from './header.ts'
import {
  EIP3009_METHOD,
  NATIVE_TRANSFER_METHOD,
  PERMIT2_METHOD,
  SIGNED_TRANSACTION_METHOD,
  TXID_METHOD,
} from './methods.ts'
import { Requirements, ResourceInfo } from './requirements.ts'

/** What a payer sends, in both versions. */

const data = v.record(v.string(), v.unknown())

export const PaymentPayloadV2 = v.object({
  x402Version: v.literal(2),
  resource: v.nullish(ResourceInfo, () => undefined),
  /** The requirements the payer says it accepted: an echo, compared with what was asked and never believed. */
  accepted: Requirements,
  payload: data,
})

export const PaymentPayloadV1 = v.object({
  x402Version: v.literal(1),
  scheme: v.pipe(v.string(), v.maxLength(64)),
  network: v.pipe(v.string(), v.maxLength(64)),
  payload: data,
})

export const PaymentPayload = v.variant('x402Version', [PaymentPayloadV1, PaymentPayloadV2])
export type PaymentPayload = v.InferOutput<typeof PaymentPayload>

export type DecodedPayload =
  | { ok: true; payload: PaymentPayload }
  | { ok: false; problem: DecodeProblem }

/** Reads the value of `X-PAYMENT` or `PAYMENT-SIGNATURE`; the version inside decides, not the header's name. */
export function decodePayload(text: string): DecodedPayload {
  const decoded = decodeHeader(text)
  return decoded.ok ? readPayload(decoded.value) : decoded
}

export function readPayload(value: unknown): DecodedPayload {
  const result = v.safeParse(PaymentPayload, value)
  if (result.success) return { ok: true, payload: result.output }
  const [issue] = result.issues
  const params = { field: v.getDotPath(issue), problem: fieldProblemOf(issue) }
  return { ok: false, problem: { code: 'payment_field', params } }
}

export function schemeOf(payment: PaymentPayload): string {
  return payment.x402Version === 1 ? payment.scheme : payment.accepted.scheme
}

export function networkNameOf(payment: PaymentPayload): string {
  return payment.x402Version === 1 ? payment.network : payment.accepted.network
}

/** How value moves: said by the terms, or told by the payload's shape; undefined where neither says. A transaction alone does not say what it moves. */
export function methodOf(payment: PaymentPayload): string | undefined {
  if (payment.x402Version === 2) {
    const { assetTransferMethod } = payment.accepted.extra
    if (typeof assetTransferMethod === 'string') return assetTransferMethod
  }
  if ('permit2Authorization' in payment.payload) return PERMIT2_METHOD
  if ('authorization' in payment.payload) return EIP3009_METHOD
  if (payment.x402Version === 2) return undefined
  if ('txRef' in payment.payload) return TXID_METHOD
  if ('signedTransaction' in payment.payload) return SIGNED_TRANSACTION_METHOD
  return 'transaction' in payment.payload ? NATIVE_TRANSFER_METHOD : undefined
}

/**
 * Native SOL that the payer signs and the service broadcasts: scheme `exact`, `assetTransferMethod: "native-transfer"`.
 * The payload's field is the one of exact on Solana: base64 of the wire transaction.
 */
export const NativeTransferPayload = v.object({
  transaction: v.pipe(
    v.string(),
    v.maxLength(2048),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const bytes = decodeBase64(dataset.value)
      if (bytes) return bytes
      addIssue({ message: 'base64' satisfies FieldFormat })
      return NEVER
    }),
  ),
})

/** Native ETH that the payer signs and the service broadcasts: `assetTransferMethod: "signed-transaction"`. */
export const SignedTransactionPayload = v.object({
  signedTransaction: v.pipe(
    v.string(),
    v.maxLength(4096),
    v.regex(/^0x(?:[0-9a-f]{2})+$/, 'lower_case_hex' satisfies FieldFormat),
  ),
})

/** What a facilitator answers; the same in both versions. As in the official schemas, what may be absent may be null. */

const reason = v.nullish(v.string())
const payer = v.nullish(v.string())

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
