import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { invoiceTotals, type InvoiceFace } from '#contract/invoice.ts'
import { formatNumber, formatPrice } from '../locales/formats.ts'
import { formatCalendarDay } from './format-calendar-day.ts'

/** The lines of an invoice with what they add up to, as counted here. */
export function InvoiceLines({ lines, currency }: Pick<InvoiceFace, 'lines' | 'currency'>) {
  const { t } = useLingui()
  const { nets } = invoiceTotals(lines, currency)
  const money = (amount: string) => formatPrice(amount, currency.code)
  return (
    <table aria-label={t`Invoice lines`} className="figures w-full text-sm">
      <thead className="border-b border-edge text-muted">
        <tr>
          <th className="py-2 pe-3 text-start font-normal" scope="col">
            <Trans>Item</Trans>
          </th>
          <th className="py-2 pe-3 text-end font-normal" scope="col">
            <Trans>Quantity</Trans>
          </th>
          <th className="py-2 text-end font-normal" scope="col">
            <Trans>Amount</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, index) => (
          <tr className="break-inside-avoid border-b border-line" key={`${line.name} ${index}`}>
            <th className="py-2 pe-3 text-start font-normal [overflow-wrap:anywhere]" scope="row">
              {line.name}
            </th>
            <td className="py-2 pe-3 text-end align-top">
              {formatNumber(Number(line.quantity))} × {money(line.unitPrice)}
            </td>
            <td className="py-2 text-end align-top whitespace-nowrap">
              {money(nets[index] ?? '')}
            </td>
          </tr>
        ))}
        <InvoiceSums currency={currency} lines={lines} />
      </tbody>
    </table>
  )
}

/** What lines add up to, as rows of a table: with the tax of each rate, where a line names one. */
export function InvoiceSums({ lines, currency }: Pick<InvoiceFace, 'lines' | 'currency'>) {
  const { net, taxes, total } = invoiceTotals(lines, currency)
  const money = (amount: string) => formatPrice(amount, currency.code)
  return (
    <>
      {taxes.length > 0 && (
        <Sum amount={money(net)}>
          <Trans>Subtotal</Trans>
        </Sum>
      )}
      {taxes.map(({ percent, tax }) => (
        <Sum amount={money(tax)} key={percent}>
          <Trans>Tax {{ percent: formatNumber(Number(percent)) }}%</Trans>
        </Sum>
      ))}
      <Sum amount={money(total)} className="font-semibold text-ink">
        <Trans>Total</Trans>
      </Sum>
    </>
  )
}

function Sum({
  amount,
  className = 'text-muted',
  children,
}: {
  amount: string
  className?: string
  children: ReactNode
}) {
  return (
    <tr className={className}>
      <th className="pt-2 pe-3 text-start [font-weight:inherit]" colSpan={2} scope="row">
        {children}
      </th>
      <td className="pt-2 text-end text-ink">{amount}</td>
    </tr>
  )
}

/** Who issues an invoice, or who is billed. */
export function InvoiceParty({
  label,
  party: { name, address, taxNumber, email },
}: {
  label: ReactNode
  party: { name: string } & Partial<Record<'address' | 'taxNumber' | 'email', string | null>>
}) {
  const { t } = useLingui()
  return (
    <address className="text-sm whitespace-pre-line not-italic [overflow-wrap:anywhere]">
      <span className="block text-muted">{label}</span>
      <span className="block font-medium">{name}</span>
      {address && <span className="block">{address}</span>}
      {taxNumber && (
        <span className="block">
          {t`Tax number`} {taxNumber}
        </span>
      )}
      {email && <span className="block">{email}</span>}
    </address>
  )
}

/** For the payer: number, dates, seller, and the lines, open where they are few. */
export function InvoiceSummary({ invoice }: { invoice: InvoiceFace }) {
  const { t } = useLingui()
  const { number, issuedOn, dueOn, seller, lines } = invoice
  return (
    <div className="mb-4 rounded-xl border border-line bg-surface px-4 py-3" data-invoice>
      <p className="flex flex-wrap justify-between gap-x-3 text-sm">
        <span className="font-medium">
          <Trans>Invoice {number}</Trans>
        </span>
        <span className="text-muted">
          {t`Issued`} {formatCalendarDay(issuedOn)} · <Trans>Due {formatCalendarDay(dueOn)}</Trans>
        </span>
      </p>
      {seller && (
        <div className="mt-2">
          <InvoiceParty label={t({ message: 'From', context: 'invoice' })} party={seller} />
        </div>
      )}
      <details className="mt-1" open={lines.length <= 2}>
        <summary className="touch-target cursor-pointer text-sm text-muted">
          <Trans>Lines</Trans>
        </summary>
        <InvoiceLines {...invoice} />
      </details>
    </div>
  )
}
