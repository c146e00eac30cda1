import type { EndpointReply } from '#contract/endpoints.ts'
import type { ProofCheck } from '#contract/proof.ts'
import type { Context } from '../../context/context.ts'
import type { PaymentRecord } from '../../db/payments.ts'
import { chainOf } from '../../context/network.ts'
import type { ExpectedTerms } from '../../verification/terms.ts'
import { reply } from './reply.ts'

type Paid = {
  payment: PaymentRecord
  terms: ExpectedTerms
  checks: readonly ProofCheck[]
  alreadyProcessed: boolean
  priorityFeeAtomic: bigint | undefined
}

/**
 * What a payee writes on the chain for a payment it received: on Solana as a memo; on EVM its
 * Keccak-256, as the data of a call without value.
 */
function receiptText(paymentId: string): string {
  return `x402-receipt:${paymentId}`
}

/**
 * Nothing is left to settle: the returned transaction only acknowledges the payment, for a caller
 * that wants that on the chain.
 */
export async function acknowledge(
  context: Context,
  { payment, terms, checks, alreadyProcessed, priorityFeeAtomic }: Paid,
): Promise<EndpointReply<'transactionReceive'>> {
  const note = {
    payee: terms.payTo,
    payer: payment.sender,
    text: receiptText(payment.id),
    priorityFeeAtomic,
  }
  const built = await chainOf(context, payment.network).note(note)
  const { bytes, encoding, lastValidBlockHeight, builtHeight, decoded } = built
  const prepared = {
    settlement: 'already_settled',
    kind: 'receipt',
    bytes,
    encoding,
    signer: terms.payTo,
    lastValidBlockHeight,
    builtHeight,
    decoded,
    fee: built,
    goodUntil: null,
  } as const
  return reply(context, { payment, prepared, checks, alreadyProcessed })
}
