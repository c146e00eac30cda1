import { useLingui } from '@lingui/react/macro'
import { isLate, type RateQuote } from '#contract/quote.ts'
import { formatDistance, formatPrice } from '../locales/formats.ts'
import { Badge } from '../ui/Badge.tsx'
import { Fact } from '../ui/Facts.tsx'

/** The price that a payment was quoted at, with its rate, the source and the rate's age then. */
export function RateFact({
  quote,
  blockTime,
}: {
  quote: RateQuote
  blockTime?: number | undefined
}) {
  const { t } = useLingui()
  const seconds = Math.round((quote.observedAt - quote.quotedAt) / 1000)
  return (
    <Fact name={t`Price`} long>
      {formatPrice(quote.amount, quote.currency)}{' '}
      {isLate(quote, blockTime) && <Badge tone="warn">{t`Late`}</Badge>}
      <span className="block text-sm text-muted [overflow-wrap:anywhere]">
        {formatPrice(quote.rate, quote.currency)} · {quote.source}
        {quote.round !== null && ` · ${quote.round}`} · {formatDistance(seconds, 'second')}
      </span>
    </Fact>
  )
}
