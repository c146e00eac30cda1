import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { statusLabel } from '../../ui/status-words.ts'

type Facts = Pick<PaymentStatusBody, 'status' | 'signature' | 'blockHeight' | 'confirmations' | 'requiredConfirmations'>

/** Where a payment stands, in one or two sentences that say whether money moved. */
export function stateWords({ status, signature, blockHeight, confirmations, requiredConfirmations }: Facts): string {
  switch (status) {
    case 'created':
      return 'Waiting for a signature. Nothing was sent yet.'
    case 'pending':
      return confirmations > 0
        ? `On the chain with ${confirmations} of ${requiredConfirmations} confirmations. It does not count as paid yet.`
        : 'Sent to the network. It does not count as paid until it is confirmed.'
    case 'confirmed':
      return 'The payment has arrived. It becomes final in a moment.'
    case 'finalized':
      return 'The payment has arrived and cannot be undone.'
    case 'expired':
      return 'Nothing was sent. The transaction ran out of time before it was signed and can no longer be used.'
    case 'failed':
      if (!signature) return 'Nothing was sent.'
      if (blockHeight === null) return 'It never reached the chain and no longer can. Nothing was paid.'
      return 'It reached the chain and failed there. The recipient got nothing; only the network fee was paid.'
    case 'rolled_back':
      return 'It was confirmed, and the network took that back. Do not deliver on it; it may still arrive again.'
  }
}

/** The heading in the page's title and for a screen reader: "Payment of 0.1 ETH, confirmed". */
export function titleWords(amount: string, status: PaymentStatusBody['status']): string {
  return `Payment of ${amount}, ${statusLabel(status).toLowerCase()}`
}
