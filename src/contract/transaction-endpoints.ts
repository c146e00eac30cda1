import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic, decimal, publicText, timestamp } from './fields.ts'
import { Fee, PaymentStatusBody } from './payment-body.ts'
import { PayerEvidenceRequest } from './payer-evidence.ts'
import { SettlementBody } from './settlement.ts'

/** Local mode: the service builds, the caller signs and broadcasts (specification section 4). */
export const transactionEndpoints = {
  transactionSend: {
    method: 'POST',
    path: '/transaction/send',
    response: v.object({
      success: v.literal(true),
      /** Base64 of the unsigned transaction. */
      transaction: v.string(),
      encoding: v.picklist(['solana-wire-v0', 'evm-rlp-unsigned']),
      /** Height after which the transaction is no longer accepted. */
      lastValidBlockHeight: v.number(),
      /** Unix milliseconds. */
      expiresAt: timestamp,
      paymentId: publicText,
      paymentProof: v.null(),
      network: publicText,
      asset: publicText,
      symbol: publicText,
      decimals: v.number(),
      amount: decimal,
      amountAtomic: atomic,
      sender: publicText,
      recipient: publicText,
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
  },
  transactionReceive: {
    method: 'POST',
    path: '/transaction/receive',
    response: SettlementBody,
  },
  transactionSubmitted: {
    method: 'POST',
    path: '/transaction/submitted',
    response: PaymentStatusBody,
  },
  transactionRelease: {
    method: 'POST',
    path: '/transaction/release',
    response: PaymentStatusBody,
  },
} as const satisfies Record<string, Call>
