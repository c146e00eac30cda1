import { useLingui } from '@lingui/react/macro'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { quoteOf } from '#contract/quote.ts'
import { formatPrice } from '../../locales/formats.ts'
import { Worth } from '../../payment-flow/Worth.tsx'

type PaymentWorthProps = {
  payment: Pick<PaymentStatusBody, 'status' | 'amountAtomic' | 'decimals' | 'symbol' | 'metadata'>
}

/**
 * The price at which a payment was quoted. Without one only today's worth is known: it says so, and is
 * not printed, because a receipt is read on another day. What nobody paid is worth nothing.
 */
export function PaymentWorth({ payment }: PaymentWorthProps) {
  const { t } = useLingui()
  const quote = quoteOf(payment.metadata)
  if (quote) return <p className="figures mt-1">{formatPrice(quote.amount, quote.currency)}</p>
  if (payment.status === 'failed' || payment.status === 'expired') return null
  return (
    <Worth
      asset={payment}
      atomic={BigInt(payment.amountAtomic)}
      className="no-print mt-1"
      rounded={(price) => t`about ${price} today`}
    />
  )
}
