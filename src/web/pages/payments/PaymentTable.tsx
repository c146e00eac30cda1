import type { PaymentRow } from '#contract/payment-body.ts'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import { useConfig } from '../../shell/use-config.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { Td, Th } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { directionWords } from './direction-words.ts'
import { Direction } from './Direction.tsx'
import { ROW_HEIGHT, type RowsInView } from './rows-in-view.ts'

/** A real table whose undrawn rows are two tall empty ones. */
export function PaymentTable({ rows, before, after, total }: RowsInView) {
  const { networks } = useConfig()
  const nameOf = (id: string) => networks.find(({ network }) => network === id)?.name ?? id
  return (
    <table aria-rowcount={total + 1} className="w-full table-fixed border-collapse text-sm">
      <caption className="sr-only">Payments, newest first</caption>
      <colgroup>
        <col className="w-56" />
        <col className="w-32" />
        <col className="xl:w-36" />
        <col className="hidden xl:table-column" />
        <col className="hidden w-36 lg:table-column" />
        <col className="w-32" />
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          <Th className="ps-5">Amount</Th>
          <Th>Status</Th>
          <Th>From or to</Th>
          <Th className="hidden xl:table-cell">For</Th>
          <Th className="hidden lg:table-cell">Network</Th>
          <Th end>Date</Th>
        </tr>
      </thead>
      <tbody className="[&>tr:last-child>td]:border-b-0">
        {before > 0 && <Gap height={before} />}
        {rows.map(({ index, row }) => (
          <Row index={index} key={row.paymentId} networkName={nameOf(row.network)} row={row} />
        ))}
        {after > 0 && <Gap height={after} />}
      </tbody>
    </table>
  )
}

function Gap({ height }: { height: number }) {
  return <tr aria-hidden style={{ height }} />
}

function Row({ row, index, networkName }: { row: PaymentRow; index: number; networkName: string }) {
  const received = row.type === 'received'
  return (
    <tr
      aria-rowindex={index + 2}
      className="group relative transition-colors hover:bg-hover has-focus-visible:bg-hover"
      data-index={index}
      data-payment-row={row.paymentId}
      style={{ height: ROW_HEIGHT }}
    >
      <Td className="py-0">
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
      <Td className="py-0">
        <StatusPill status={row.status} />
      </Td>
      <Td className="truncate py-0">
        <Address value={received ? row.sender : row.recipient} />
      </Td>
      <Td className="hidden truncate py-0 text-muted xl:table-cell">
        {row.resource ? <UntrustedText text={row.resource.replace(/^https?:\/\//, '')} /> : '–'}
      </Td>
      <Td className="hidden truncate py-0 text-muted lg:table-cell">{networkName}</Td>
      <Td className="py-0 whitespace-nowrap text-muted" end>
        <Time at={row.timestamp} />
      </Td>
    </tr>
  )
}
