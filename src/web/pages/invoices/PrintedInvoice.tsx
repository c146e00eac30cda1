import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { useConfig } from '../../api/use-config.ts'
import { formatDate, formatPrice } from '../../locales/formats.ts'
import { InvoiceLines, InvoiceParty } from '../../payment-flow/InvoiceLines.tsx'
import { formatCalendarDay } from '../../payment-flow/format-calendar-day.ts'
import { Link } from '../../router/Link.tsx'
import { hrefOf } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { PageHeading } from '../../shell/PageHeading.tsx'
import { QrCode } from '../../ui/QrCode.tsx'

/** What stands on paper: one page for usual invoices. `sellerAction` is for the screen. */
export function PrintedInvoice({
  invoice,
  sellerAction,
}: {
  invoice: InvoiceBody
  sellerAction: ReactNode
}) {
  const { t } = useLingui()
  const { title } = useConfig()
  const { number, issuedOn, dueOn, seller, customer, customerRemovedAt, note, link, state } =
    invoice
  const page = link === null ? undefined : pageOf(link)
  const removedOn =
    customerRemovedAt === null ? null : formatDate(customerRemovedAt, { dateStyle: 'medium' })
  return (
    <div className="space-y-6">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div>
          <PageHeading className="text-lg font-semibold">
            {number === null ? <Trans>Draft invoice</Trans> : <Trans>Invoice {number}</Trans>}
          </PageHeading>
          {state === 'void' && (
            <p className="font-semibold text-bad-ink">
              <Trans>Void</Trans>
            </p>
          )}
          {state === 'paid' && (
            <p className="hidden font-semibold print:block">
              <Trans context="invoice">Paid</Trans>
            </p>
          )}
        </div>
        <div className="sm:text-end">
          <p className="figures text-3xl font-semibold [overflow-wrap:anywhere]" data-invoice-total>
            {formatPrice(invoice.total, invoice.currency.code)}
          </p>
          <dl className="mt-1 grid grid-cols-[auto_auto] gap-x-4 text-sm sm:justify-end">
            {issuedOn !== null && (
              <>
                <dt className="text-muted">{t`Issued`}</dt>
                <dd className="text-end">{formatCalendarDay(issuedOn)}</dd>
              </>
            )}
            <dt className="text-muted">{t`Due date`}</dt>
            <dd className="text-end">{formatCalendarDay(dueOn)}</dd>
          </dl>
        </div>
      </div>
      <div className="grid gap-6 sm:grid-cols-2 print:grid-cols-2">
        <div>
          {seller ? (
            <InvoiceParty label={t({ message: 'From', context: 'invoice' })} party={seller} />
          ) : (
            // The title of the service may be another one by the next print: it is no seller.
            <p className="text-sm">{title}</p>
          )}
          {sellerAction}
        </div>
        {removedOn !== null ? (
          <p className="text-sm text-muted">
            <Trans>Personal data deleted: {removedOn}</Trans>
          </p>
        ) : (
          customer && <InvoiceParty label={t`Bill to`} party={customer} />
        )}
      </div>
      <InvoiceLines {...invoice} />
      {note !== null && (
        <p className="text-sm whitespace-pre-line [overflow-wrap:anywhere]">{note}</p>
      )}
      {page && (state === 'open' || state === 'overdue') && (
        <div className="flex items-center gap-4 border-t border-line pt-4 text-sm">
          <QrCode
            className="w-28 shrink-0 border border-line"
            label={t`Code for ${{ name: page }}`}
            value={page}
          />
          <p className="min-w-0 [overflow-wrap:anywhere]">
            <span className="block text-muted">
              <Trans>Pay at</Trans>
            </span>
            {page}
          </p>
        </div>
      )}
      {invoice.payment && (
        <p className="border-t border-line pt-4 text-sm">
          <Trans>Payment</Trans>{' '}
          <Link
            className="font-mono text-[13px] underline decoration-edge [overflow-wrap:anywhere]"
            to={pathTo('payment', { params: { paymentId: invoice.payment.paymentId } })}
          >
            {invoice.payment.paymentId}
          </Link>
        </p>
      )}
    </div>
  )
}

/** Where a payer opens the link of an invoice. */
export function pageOf(link: string): string {
  return new URL(hrefOf(pathTo('payLink', { params: { link } })), window.location.origin).href
}
