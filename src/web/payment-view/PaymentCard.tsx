import { memo, type ReactNode } from 'react'
import type { PaymentNote } from '#contract/payment-endpoints.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { usePreferences } from '../local-data/preferences.ts'
import { pathTo } from '../router/paths.ts'
import { Link } from '../router/Link.tsx'
import { Amount } from '../ui/Amount.tsx'
import { cx } from '../ui/button-class.ts'
import { StatusPill } from '../ui/StatusPill.tsx'
import { shownStatus } from '../ui/status-words.ts'
import { Time } from '../ui/Time.tsx'
import { UntrustedText } from '../ui/UntrustedText.tsx'
import { purposeOf, quotedPriceOf } from './describe-row.ts'
import { Direction } from './Direction.tsx'
import { DirectionLine } from './DirectionLine.tsx'
import { Labels } from './Labels.tsx'

export type PaymentCardProps = {
  row: PaymentRow
  note?: PaymentNote | undefined
  /** In place of the picture, while rows are picked. */
  picker?: ReactNode
  chosen?: boolean
}

/** One payment where there is no room for columns. */
export const PaymentCard = memo(function PaymentCard({
  row,
  note,
  picker,
  chosen,
}: PaymentCardProps) {
  const purpose = purposeOf(row)
  const price = quotedPriceOf(row, usePreferences())
  return (
    <div
      className={cx(
        'relative flex min-h-16 items-center gap-3 px-5 py-3 transition-colors hover:bg-hover',
        chosen && 'bg-accent-soft',
      )}
      data-payment-row={row.paymentId}
    >
      {picker ?? <Direction draft={row.draft} status={row.status} type={row.type} />}
      <Link
        className="min-w-0 flex-1 outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        to={pathTo('payment', { params: { paymentId: row.paymentId } })}
      >
        <span className="block truncate text-sm font-medium">
          <DirectionLine className="font-normal text-muted max-sm:sr-only" payment={row} />
        </span>
        <span className="flex items-center gap-2 text-xs text-muted">
          <Time at={row.timestamp} className="shrink-0" />
          {purpose !== null && (
            <span className="min-w-0 truncate" title={purpose}>
              <UntrustedText text={purpose} />
            </span>
          )}
          <Labels most={1} note={note} />
        </span>
      </Link>
      <span className="flex shrink-0 flex-col items-end gap-1 sm:flex-row-reverse sm:items-center sm:gap-4">
        <span className="text-end sm:min-w-32">
          <Amount
            atomic={row.amountAtomic}
            className="font-medium"
            decimals={row.decimals}
            symbol={row.symbol}
          />
          {price && <span className="figures block text-xs text-muted">{price}</span>}
        </span>
        <StatusPill status={shownStatus(row)} />
      </span>
    </div>
  )
})
