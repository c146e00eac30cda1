/** The words of x402 that all programs share. The scheme is always `exact`; the method says how value moves. */
export const EXACT_SCHEME = 'exact'

/** Native SOL: the payer signs a transfer, the service broadcasts it. */
export const NATIVE_TRANSFER_METHOD = 'native-transfer'
/** Native ETH: the payer signs a whole transaction, the service broadcasts it. */
export const SIGNED_TRANSACTION_METHOD = 'signed-transaction'

/** All of them settle before the resource is served. */
export const UPFRONT_FLOW = 'upfront'

/** How long a proof may be claimed after its payment, in milliseconds. */
export const MAX_PROOF_AGE_MS = 24 * 60 * 60 * 1000
