import { formatAmount } from '#contract/amount.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { nativeAsset } from '#contract/network.ts'
import type { ProofCheck } from '#contract/proof.ts'
import type { Context } from '../../context/context.ts'
import type { PaymentRecord } from '../../db/payments.ts'
import { estimateConfirmation, describeMoney } from '../../payments/describe-money.ts'
import { chainOf } from '../../context/network.ts'
import type { Prepared } from './prepare.ts'

/** How long a built transaction is offered, in milliseconds. */
const VALID_MS = 60_000

type ReplyFacts = {
  payment: PaymentRecord
  prepared: Prepared
  checks: readonly ProofCheck[]
  alreadyProcessed: boolean
}

export function reply(
  context: Context,
  { payment, prepared, checks, alreadyProcessed }: ReplyFacts,
): EndpointReply<'transactionReceive'> {
  const {
    bytes,
    settlement,
    kind,
    encoding,
    signer,
    lastValidBlockHeight,
    decoded,
    fee,
    goodUntil,
  } = prepared
  const { network } = chainOf(context, payment.network)
  const { decimals } = nativeAsset(network)
  const formatLossless = (atomic: bigint) => new LosslessNumber(formatAmount(atomic, decimals))
  return {
    success: true,
    verified: true,
    alreadyProcessed,
    paymentId: payment.id,
    status: payment.status,
    settlement,
    kind,
    transaction: Buffer.from(bytes).toString('base64'),
    encoding,
    signer,
    lastValidBlockHeight,
    expiresAt: Math.min(context.now().getTime() + VALID_MS, goodUntil ?? Infinity),
    signature: payment.signature ?? payment.reportedSignature,
    ...describeMoney(payment),
    fee: fee && {
      amount: formatLossless(fee.feeAtomic),
      amountAtomic: fee.feeAtomic.toString(),
      priorityFee: formatLossless(fee.priorityFeeAtomic),
    },
    estimatedConfirmation: estimateConfirmation(network),
    decoded,
    checks: [...checks],
  }
}
