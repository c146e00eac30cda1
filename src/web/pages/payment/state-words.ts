import { t } from '@lingui/core/macro'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { formatNumber } from '../../locales/formats.ts'
import { statusLabel } from '../../ui/status-words.ts'

type Facts = Pick<
  PaymentStatusBody,
  'status' | 'signature' | 'blockHeight' | 'confirmations' | 'requiredConfirmations'
>

/** Where a payment stands, in one or two sentences that say whether money moved. */
export function stateWords({
  status,
  signature,
  blockHeight,
  confirmations,
  requiredConfirmations,
}: Facts): string {
  const [counted, needed] = [formatNumber(confirmations), formatNumber(requiredConfirmations)]
  switch (status) {
    case 'created':
      return t`Waiting for a signature. Nothing was sent yet.`
    case 'pending':
      return confirmations > 0
        ? t`On the chain with ${counted} of ${needed} confirmations. It does not count as paid yet.`
        : t`Sent to the network. It does not count as paid until it is confirmed.`
    case 'confirmed':
      return t`The payment has arrived. It becomes final in a moment.`
    case 'finalized':
      return t`The payment has arrived and cannot be undone.`
    case 'expired':
      return t`Nothing was sent. The transaction ran out of time before it was signed and can no longer be used.`
    case 'failed':
      if (!signature) return t`Nothing was sent.`
      if (blockHeight === null)
        return t`It never reached the chain and no longer can. Nothing was paid.`
      return t`It reached the chain and failed there. The recipient got nothing; only the network fee was paid.`
    case 'rolled_back':
      return t`It was confirmed, and the network took that back. Do not deliver on it; it may still arrive again.`
  }
}

/** The heading in the page's title and for a screen reader: "Payment of 0.1 ETH, confirmed". */
export function titleWords(amount: string, status: PaymentStatusBody['status']): string {
  const state = statusLabel(status).toLowerCase()
  return t`Payment of ${amount}, ${state}`
}

/** Longer than this on its way is not as it should be. */
const LATE_AFTER_MS = 10 * 60_000

/** Whether a payment is open for so long that a person should look: it was sent, and nothing is decided. */
export function isStuck(
  { status, timestamp }: Pick<PaymentStatusBody, 'status' | 'timestamp'>,
  now: number,
): boolean {
  return status === 'pending' && now - timestamp > LATE_AFTER_MS
}
