import { useQuery } from '@tanstack/react-query'
import { useLingui } from '@lingui/react/macro'
import { isLate, type RateQuote } from '#contract/quote.ts'
import { imageQuery } from '../api/images.ts'
import { formatPrice, formatDistance } from '../locales/formats.ts'
import type { PaymentItem } from '../payment-intent/intent.ts'
import { Badge } from '../ui/Badge.tsx'
import { Fact } from '../ui/Facts.tsx'
import { UntrustedText } from '../ui/UntrustedText.tsx'
import { cx } from '../ui/button-class.ts'
import { formatQuantity } from './format-quantity.ts'

/** What is paid for: picture, name, and quantity × price, or the price of a single piece. On every step, on the receipt and in print. */
export function ItemSummary({ item, className }: { item: PaymentItem; className?: string }) {
  const { name, description, image, price, pieces } = item
  return (
    <div className={cx('mb-4 flex items-center gap-3 text-start', className)} data-item>
      {image !== null && <ItemImage className="size-16" id={image} />}
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p className="font-medium">
          <UntrustedText text={name} />
        </p>
        {description !== null && (
          <p className="line-clamp-3 text-sm text-muted print:line-clamp-none">
            <UntrustedText text={description} />
          </p>
        )}
        <p className="figures text-sm text-muted">
          {formatQuantity({ pieces, price }) ?? formatPrice(price.amount, price.currency)}
        </p>
      </div>
    </div>
  )
}

/** The picture of a product. Its name stands beside it, so it has no words. */
export function ItemImage({ id, className }: { id: string; className?: string }) {
  const { data } = useQuery(imageQuery(id))
  return (
    <span
      className={cx(
        'block shrink-0 overflow-hidden rounded-lg border border-line bg-sunken',
        className,
      )}
    >
      {data && <img alt="" className="size-full object-cover" src={data} />}
    </span>
  )
}

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
      {isLate(quote, blockTime) && <Badge tone="warn">{t`Paid late`}</Badge>}
      <span className="block text-sm text-muted [overflow-wrap:anywhere]">
        {formatPrice(quote.rate, quote.currency)} · {quote.source}
        {quote.round !== null && ` · ${quote.round}`} · {formatDistance(seconds, 'second')}
      </span>
    </Fact>
  )
}
