import { formatAmount } from '#contract/amount.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { Receipt } from '#contract/receipt.ts'
import { descriptionOf, referenceOf } from '../../payment-view/describe-row.ts'

/** The receipt of a payment as the service records it; nothing while it is not paid. Whether the chain bears it out is for the caller to see first. */
export function receiptOf(payment: PaymentStatusBody): Omit<Receipt, 'signed'> | undefined {
  const { status, signature, blockHeight } = payment
  if (
    (status !== 'confirmed' && status !== 'finalized') ||
    signature === null ||
    blockHeight === null
  )
    return undefined
  return {
    receipt: 'paydesk/2',
    paymentId: payment.paymentId,
    network: payment.network,
    transaction: signature,
    height: blockHeight,
    blockHash: null,
    status,
    payer: payment.sender,
    recipient: payment.recipient,
    amount: formatAmount(BigInt(payment.amountAtomic), payment.decimals),
    amountAtomic: payment.amountAtomic,
    asset: payment.asset,
    symbol: payment.symbol,
    decimals: payment.decimals,
    feeAtomic: payment.fee?.amountAtomic ?? '0',
    resource: payment.resource,
    description: descriptionOf(payment),
    reference: referenceOf(payment),
    orderedAt: payment.timestamp,
  }
}
