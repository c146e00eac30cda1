import { TXID_METHOD } from './txid.ts'

/** The words of x402 that all programs share. The scheme is always `exact`; the method says how value moves. */
export const EXACT_SCHEME = 'exact'

/** Native SOL: the payer signs a transfer, the service broadcasts it. */
export const NATIVE_TRANSFER_METHOD = 'native-transfer'
/** Native ETH: the payer signs a whole transaction, the service broadcasts it. */
export const SIGNED_TRANSACTION_METHOD = 'signed-transaction'

export const NATIVE_METHODS = [TXID_METHOD, NATIVE_TRANSFER_METHOD, SIGNED_TRANSACTION_METHOD] as const
export type NativeMethod = (typeof NATIVE_METHODS)[number]

/** All of them settle before the resource is served. */
export const UPFRONT_FLOW = 'upfront'

/** How long a proof may be claimed after its payment, in milliseconds. */
export const MAX_PROOF_AGE_MS = 24 * 60 * 60 * 1000

/** Either may carry a payment; `x402Version` inside decides what it is. */
export const PAYMENT_HEADERS = ['PAYMENT-SIGNATURE', 'X-PAYMENT'] as const
/** The challenge of v2; v1's is the body of the 402. */
export const CHALLENGE_HEADER = 'PAYMENT-REQUIRED'
/** Both are sent with the outcome of a payment. */
export const SETTLEMENT_HEADERS = ['PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'] as const
