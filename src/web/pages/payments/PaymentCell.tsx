import type { PaymentNote } from '#contract/note-endpoints.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { Td } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import type { ColumnName } from './columns.ts'
import { purposeOf, referenceOf } from './describe-row.ts'
import { directionWords } from './direction-words.ts'
import { Direction } from './Direction.tsx'
import { Labels } from './Labels.tsx'

export type PaymentCellProps = { name: ColumnName; row: PaymentRow; networkName: string; note: PaymentNote | undefined }

export function PaymentCell({ name, row, networkName, note }: PaymentCellProps) {
  switch (name) {
    case 'amount':
      return (
        <Td className="py-0 first:ps-3">
          <Link
            className="flex items-center gap-3 rounded-sm outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
            to={pathTo('payment', { params: { paymentId: row.paymentId } })}
          >
            <Direction status={row.status} type={row.type} />
            <span className="min-w-0">
              <Amount atomic={row.amountAtomic} className="block truncate font-medium" decimals={row.decimals} symbol={row.symbol} />
              <span className="block text-xs text-muted">{directionWords(row)}</span>
            </span>
          </Link>
        </Td>
      )
    case 'status':
      return (
        <Td className="py-0">
          <StatusPill status={row.status} />
        </Td>
      )
    case 'party':
      return (
        <Td className="truncate py-0">
          <Address value={row.type === 'received' ? row.sender : row.recipient} />
        </Td>
      )
    case 'purpose':
      return <TextCell text={purposeOf(row)} />
    case 'reference':
      return <TextCell text={referenceOf(row)} />
    case 'labels':
      return (
        <Td className="truncate py-0">
          <Labels note={note} />
        </Td>
      )
    case 'network':
      return <Td className="truncate py-0 text-muted">{networkName}</Td>
    case 'transaction':
      return <Td className="truncate py-0 text-muted">{row.signature ? <Address noun="transaction" value={row.signature} /> : '–'}</Td>
    case 'date':
      return (
        <Td className="py-0 whitespace-nowrap text-muted" end>
          <Time at={row.timestamp} />
        </Td>
      )
  }
}

function TextCell({ text }: { text: string | null }) {
  return (
    <Td className="truncate py-0 text-muted" title={text ?? undefined}>
      {text === null ? '–' : <UntrustedText text={text} />}
    </Td>
  )
}
