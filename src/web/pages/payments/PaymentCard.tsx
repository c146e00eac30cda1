import type { PaymentRow } from '#contract/payment-body.ts'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { Time } from '../../ui/Time.tsx'
import { directionWords } from './direction-words.ts'
import { Direction } from './Direction.tsx'

/** One payment where there is no room for columns. */
export function PaymentCard({ row }: { row: PaymentRow }) {
  return (
    <Link
      className="flex min-h-16 items-center gap-3 px-5 py-3 transition-colors hover:bg-hover focus-visible:-outline-offset-2"
      data-payment-row={row.paymentId}
      to={pathTo('payment', { params: { paymentId: row.paymentId } })}
    >
      <Direction status={row.status} type={row.type} />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm font-medium">
          {directionWords(row)}
          <span className="font-normal text-muted max-sm:sr-only">
            {' '}
            {row.type === 'received' ? 'from' : 'to'} <Address value={row.type === 'received' ? row.sender : row.recipient} />
          </span>
        </span>
        <span className="block truncate text-xs text-muted">
          <Time at={row.timestamp} />
        </span>
      </span>
      <span className="flex shrink-0 flex-col items-end gap-1 sm:flex-row-reverse sm:items-center sm:gap-4">
        <Amount atomic={row.amountAtomic} className="font-medium sm:min-w-32 sm:text-end" decimals={row.decimals} symbol={row.symbol} />
        <StatusPill status={row.status} />
      </span>
    </Link>
  )
}
