import { Trans, useLingui } from '@lingui/react/macro'
import { invoiceTotals, type InvoiceFace } from '#contract/invoice.ts'
import { formatDate, formatNumber, formatPrice } from '../locales/formats.ts'

/** The lines of an invoice with what they add up to, as counted here. */
export function InvoiceLines({ lines, currency }: Pick<InvoiceFace, 'lines' | 'currency'>) {
  const { t } = useLingui()
  const { nets, net, taxes, total } = invoiceTotals(lines, currency)
  const money = (amount: string) => formatPrice(amount, currency.code)
  return (
    <table aria-label={t`Invoice lines`} className="figures w-full text-sm">
      <tbody>
        {lines.map((line, index) => (
          <tr className="break-inside-avoid border-b border-line" key={`${line.name} ${index}`}>
            <th className="py-2 pe-3 text-start font-normal [overflow-wrap:anywhere]" scope="row">
              {line.name}
              <span className="block text-muted">
                {formatNumber(Number(line.quantity))} × {money(line.unitPrice)}
              </span>
            </th>
            <td className="py-2 text-end align-top whitespace-nowrap">
              {money(nets[index] ?? '')}
            </td>
          </tr>
        ))}
        {taxes.length > 0 && (
          <tr>
            <th className="pt-2 pe-3 text-start font-normal text-muted" scope="row">
              <Trans>Subtotal</Trans>
            </th>
            <td className="pt-2 text-end">{money(net)}</td>
          </tr>
        )}
        {taxes.map(({ percent, tax }) => (
          <tr key={percent}>
            <th className="pe-3 text-start font-normal text-muted" scope="row">
              <Trans>Tax {{ percent: formatNumber(Number(percent)) }}%</Trans>
            </th>
            <td className="text-end">{money(tax)}</td>
          </tr>
        ))}
        <tr>
          <th className="pt-2 pe-3 text-start font-semibold" scope="row">
            <Trans>Total</Trans>
          </th>
          <td className="pt-2 text-end font-semibold">{money(total)}</td>
        </tr>
      </tbody>
    </table>
  )
}

/** For the payer: number, due date, and the lines, open where they are few. */
export function InvoiceSummary({ invoice }: { invoice: InvoiceFace }) {
  const { number, dueOn, lines } = invoice
  return (
    <div className="mb-4 rounded-xl border border-line bg-surface px-4 py-3" data-invoice>
      <p className="flex flex-wrap justify-between gap-x-3 text-sm">
        <span className="font-medium">
          <Trans>Invoice {number}</Trans>
        </span>
        <span className="text-muted">
          <Trans>Due {formatCalendarDay(dueOn)}</Trans>
        </span>
      </p>
      <details className="mt-1" open={lines.length <= 2}>
        <summary className="touch-target cursor-pointer text-sm text-muted">
          <Trans>Lines</Trans>
        </summary>
        <InvoiceLines {...invoice} />
      </details>
    </div>
  )
}

/** `2026-11-25` as people write it, the same day in every time zone. */
export function formatCalendarDay(day: string): string {
  return formatDate(Date.parse(`${day}T00:00:00Z`), { dateStyle: 'medium', timeZone: 'UTC' })
}
