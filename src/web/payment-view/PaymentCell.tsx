import type { PaymentNote } from '#contract/payment-endpoints.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { usePreferences } from '../local-data/preferences.ts'
import { pathTo } from '../router/paths.ts'
import { Link } from '../router/Link.tsx'
import { Address } from '../ui/Address.tsx'
import { Amount } from '../ui/Amount.tsx'
import { StatusPill } from '../ui/StatusPill.tsx'
import { shownStatus } from '../ui/status-words.ts'
import { Time } from '../ui/Time.tsx'
import { UntrustedText } from '../ui/UntrustedText.tsx'
import { Cell } from './Cell.tsx'
import type { ColumnName } from './columns.ts'
import { customerOf, useCustomerName, type CustomerNames } from './CustomerName.tsx'
import { purposeOf, quotedPriceOf, referenceOf } from './describe-row.ts'
import { directionWords, Direction } from './Direction.tsx'
import { Labels } from './Labels.tsx'

export type PaymentCellProps = {
  name: ColumnName
  row: PaymentRow
  networkName: string
  note: PaymentNote | undefined
  /** Whom the account's people know, by wallet. A buyer has no customers. */
  names: CustomerNames | undefined
}

export function PaymentCell({ name, row, networkName, note, names }: PaymentCellProps) {
  switch (name) {
    case 'amount':
      return <AmountCell row={row} />
    case 'status':
      return (
        <Cell>
          <StatusPill status={shownStatus(row)} />
        </Cell>
      )
    case 'party':
      return <PartyCell names={names} row={row} />
    case 'purpose':
      return <TextCell text={purposeOf(row)} />
    case 'reference':
      return <TextCell text={referenceOf(row)} />
    case 'labels':
      return (
        <Cell className="truncate">
          <Labels note={note} />
        </Cell>
      )
    case 'network':
      return <Cell className="truncate text-muted">{networkName}</Cell>
    case 'transaction':
      return (
        <Cell className="truncate text-muted">
          {row.signature ? <Address noun="transaction" value={row.signature} /> : '–'}
        </Cell>
      )
    case 'date':
      return (
        <Cell className="whitespace-nowrap text-muted" end>
          <Time at={row.timestamp} />
        </Cell>
      )
  }
}

/** Who is on the other side; a customer leads to their page. */
function PartyCell({ row, names }: Pick<PaymentCellProps, 'row' | 'names'>) {
  const wallet = names ? customerOf(row) : null
  const name = useCustomerName(wallet, wallet === null ? undefined : names?.get(wallet)?.name)
  if (wallet === null)
    return (
      <Cell className="truncate">
        <Address value={row.type === 'received' ? row.sender : row.recipient} />
      </Cell>
    )
  return (
    <Cell>
      <Link
        className="relative z-1 block truncate rounded-sm hover:underline"
        to={pathTo('customer', { params: { walletAddress: wallet } })}
      >
        {name ? <UntrustedText text={name} /> : <Address value={wallet} />}
      </Link>
      {name && (
        <span className="block truncate text-xs text-muted">
          <Address value={wallet} />
        </span>
      )}
    </Cell>
  )
}

function AmountCell({ row }: { row: PaymentRow }) {
  const price = quotedPriceOf(row, usePreferences())
  return (
    <Cell>
      <Link
        className="flex items-center justify-between gap-3 rounded-sm outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        to={pathTo('payment', { params: { paymentId: row.paymentId } })}
      >
        <Direction draft={row.draft} status={row.status} type={row.type} />
        <span className="min-w-0 text-end">
          <Amount
            atomic={row.amountAtomic}
            className="block truncate font-medium"
            decimals={row.decimals}
            symbol={row.symbol}
          />
          <span className="block text-xs text-muted">
            {directionWords(row)}
            {price && ` · ${price}`}
          </span>
        </span>
      </Link>
    </Cell>
  )
}

function TextCell({ text }: { text: string | null }) {
  return (
    <Cell className="truncate text-muted" title={text ?? undefined}>
      {text === null ? '–' : <UntrustedText text={text} />}
    </Cell>
  )
}
