import * as v from 'valibot'
import type { Endpoint } from './endpoint.ts'
import { atomic, boundedText, decimal, paymentId, plainNumber, timestamp } from './fields.ts'
import { Fee, PaymentStatusBody } from './payment-body.ts'
import { PayerEvidenceRequest } from './payer-evidence.ts'
import { sendFields } from './send-fields.ts'
import { SettlementBody, SettlementInput } from './settlement.ts'

/** Local mode: the service builds, the caller signs and broadcasts (specification section 4). */
export const transactionEndpoints = {
  transactionSend: {
    method: 'POST',
    path: '/transaction/send',
    summary: 'Build an unsigned payment that the caller signs and broadcasts',
    scope: 'transaction:build',
    audience: 'browser',
    /** `senderVerified`: whether the caller has verified that its user controls `walletAddress`; false for a visitor nobody has verified. */
    body: v.strictObject({ ...sendFields, senderVerified: v.optional(v.boolean()) }),
    response: v.object({
      success: v.literal(true),
      /** Base64 of the unsigned transaction. */
      transaction: v.string(),
      encoding: v.picklist(['solana-wire-v0', 'evm-rlp-unsigned']),
      /** Height after which the transaction is no longer accepted. */
      lastValidBlockHeight: v.number(),
      /** Unix milliseconds. */
      expiresAt: timestamp,
      paymentId: v.string(),
      paymentProof: v.null(),
      network: v.string(),
      asset: v.string(),
      symbol: v.string(),
      decimals: v.number(),
      amount: decimal,
      amountAtomic: atomic,
      sender: v.string(),
      recipient: v.string(),
      resource: v.nullable(v.string()),
      /**
       * The most this transaction can cost beside the amount, in native currency; `priorityFee` is the part the validator gets, `rent` what opening the
       * recipient's token account takes on Solana. Both are contained in `amount`.
       */
      fee: v.object({ ...Fee.entries, priorityFee: decimal, rent: decimal, rentAtomic: atomic }),
      estimatedConfirmation: v.string(),
      /** The fields a wallet that takes fields (MetaMask) is asked with; a convenience, never what a signer should trust. */
      decoded: v.record(v.string(), v.unknown()),
      /** What the payer signs after landing to turn the payment into an x402 proof; null where the memo is proof enough. */
      proofRequest: v.nullable(v.record(v.string(), v.unknown())),
      /**
       * What can tie the landed transaction to this order. `fingerprint`: the fees carry random digits, so a wallet that keeps them needs nothing else.
       * `request`: what the payer signs where the wallet replaced the fees, reported with `/transaction/submitted`; null on Solana, whose memo is enough.
       */
      evidence: v.object({ fingerprint: v.boolean(), request: v.nullable(PayerEvidenceRequest) }),
    }),
    problems: [
      'INVALID_RECIPIENT',
      'INSUFFICIENT_BALANCE',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_IN_PROGRESS',
      'CHAIN_UNAVAILABLE',
    ],
  },
  transactionReceive: {
    method: 'POST',
    path: '/transaction/receive',
    summary: 'Build the transaction by which the payee settles a payment proof itself',
    scope: 'payment:receive',
    audience: 'browser',
    body: SettlementInput,
    response: SettlementBody,
    problems: [
      'INVALID_PAYMENT_PROOF',
      'INSUFFICIENT_BALANCE',
      'PAYMENT_VERIFICATION_FAILED',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_IN_PROGRESS',
      'CHAIN_UNAVAILABLE',
    ],
  },
  transactionSubmitted: {
    method: 'POST',
    path: '/transaction/submitted',
    summary: 'Report what was broadcast; the service checks the chain before it believes it',
    scope: 'transaction:build',
    audience: 'browser',
    /**
     * A report is a hint. `payerSignature`: the payer's over `evidence.request`, with `payerNonce` as its nonce (the built one otherwise).
     * `senderVerified`: the caller has verified the payer since.
     */
    body: v.strictObject({
      paymentId,
      signature: boundedText(100),
      payerSignature: v.optional(
        v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{130}$/, 'Expected 0x and 130 hex digits.')),
      ),
      payerNonce: v.optional(
        v.pipe(
          plainNumber,
          v.check(
            (nonce) => Number.isSafeInteger(nonce) && nonce >= 0,
            'Expected a whole number of 0 or more.',
          ),
        ),
      ),
      senderVerified: v.optional(v.boolean()),
    }),
    response: PaymentStatusBody,
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
} as const satisfies Record<string, Endpoint>
