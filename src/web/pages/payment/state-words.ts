import { t } from '@lingui/core/macro'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { formatNumber } from '../../locales/formats.ts'
import { statusLabel, type ShownStatus } from '../../ui/status-words.ts'

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
      return t`Nothing was sent. Waiting for a signature.`
    case 'pending':
      return confirmations > 0
        ? t`${counted} of ${needed} confirmations. Not paid yet.`
        : t`Sent. Waiting for confirmation.`
    case 'confirmed':
      return t`Confirmed, becoming final.`
    case 'finalized':
      return t`The payment is final.`
    case 'expired':
      return t`Expired. Nothing was sent.`
    case 'failed':
      if (!signature) return t`Nothing was sent.`
      if (blockHeight === null) return t`Not executed. Nothing was paid.`
      return t`Failed. Only the network fee was paid.`
    case 'rolled_back':
      return t`Reorganization: the payment may arrive again. Do not deliver.`
  }
}

/** The heading in the page's title and for a screen reader: "Payment of 0.1 ETH, confirmed". */
export function titleWords(amount: string, status: ShownStatus): string {
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
