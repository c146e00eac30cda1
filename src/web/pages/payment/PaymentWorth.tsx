import { useLingui } from '@lingui/react/macro'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { quoteOf } from '#contract/quote.ts'
import { useConfig } from '../../api/use-config.ts'
import { formatPrice } from '../../locales/formats.ts'
import { Worth } from '../../payment-flow/Worth.tsx'

type PaymentWorthProps = {
  payment: Pick<
    PaymentStatusBody,
    | 'status'
    | 'draft'
    | 'network'
    | 'refundOf'
    | 'amountAtomic'
    | 'decimals'
    | 'symbol'
    | 'metadata'
  >
}

/**
 * The price at which a payment was quoted. Without one only today's worth is known: it says so, and is
 * not printed, because a receipt is read on another day. What nobody paid is worth nothing, and neither are the
 * coins of a test network beside a main one. A refund returns an amount, whatever it is worth by then.
 */
export function PaymentWorth({ payment }: PaymentWorthProps) {
  const { t } = useLingui()
  const { networks } = useConfig()
  const { status, draft, refundOf } = payment
  if (draft || status === 'failed' || status === 'expired' || status === 'rolled_back') return null
  const quote = quoteOf(payment.metadata)
  if (quote) return <p className="figures mt-1">{formatPrice(quote.amount, quote.currency)}</p>
  const isTest = networks.some(({ network, testnet }) => testnet && network === payment.network)
  if (refundOf !== null || (isTest && networks.some(({ testnet }) => !testnet))) return null
  return (
    <Worth
      asset={payment}
      atomic={BigInt(payment.amountAtomic)}
      className="no-print mt-1"
      rounded={(price) => t`about ${price} today`}
    />
  )
}
