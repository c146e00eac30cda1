import type { MonitoredTransaction } from '../chains/chain.ts'
import type { MonitoredRecord } from '../db/payments.ts'

/** The service itself signed it and follows it to its end. */
export function isHosted({ mode }: MonitoredRecord): boolean {
  return mode === 'hosted'
}

export function isReceived({ mode }: MonitoredRecord): boolean {
  return mode === 'received'
}

/** What a chain is asked to look for. */
export function toMonitored(payment: MonitoredRecord): MonitoredTransaction {
  const {
    id,
    asset,
    sender,
    recipient,
    amount,
    nonce,
    builtHeight,
    lastValidBlockHeight,
    createdAt,
    reportedSignature,
  } = payment
  const open = payment.status !== 'expired'
  return {
    paymentId: id,
    asset,
    sender,
    recipient,
    amountAtomic: amount,
    nonce,
    builtHeight,
    lastValidBlockHeight,
    createdAt,
    reported: reportedSignature,
    open,
    ...(isHosted(payment) && { signed: [] }),
    ...(isReceived(payment) && { signed: reportedSignature === null ? [] : [reportedSignature] }),
  }
}
