import { useQuery } from '@tanstack/react-query'
import { imageQuery } from '../api/images.ts'
import { formatNumber, formatPrice } from '../locales/formats.ts'
import type { PaymentItem } from '../payment-intent/intent.ts'
import { cx } from '../ui/cx.ts'
import { UntrustedText } from '../ui/UntrustedText.tsx'

/** What is paid for: picture, name, and quantity × price. On every step, on the receipt and in print. */
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
          {formatNumber(pieces)} × {formatPrice(price.amount, price.currency)}
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
