import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { formatRefusal, refusalOf } from '../../errors/refusals.ts'
import { joinMessage } from '../../errors/row.ts'
import { formatCalendarDay, InvoiceLines } from '../../payment-flow/InvoiceLines.tsx'
import { formatDate } from '../../locales/formats.ts'
import { Link } from '../../router/Link.tsx'
import { hrefOf, navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useParams } from '../../router/use-route.tsx'
import { ForRole } from '../../session/ForRole.tsx'
import { PageHeading } from '../../shell/PageHeading.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { toast } from '../../ui/Toast.tsx'
import { InvoiceBadges } from './InvoiceBadges.tsx'
import { InvoiceDialog } from './InvoiceDialog.tsx'
import { cacheInvoice, invoiceQuery, refreshInvoices } from './invoice-queries.ts'

/** One invoice as it is printed, with what can be done about it. */
export function InvoicePage() {
  const [editing, setEditing] = useState<InvoiceBody>()
  const close = () => setEditing(undefined)
  return (
    <div className="mx-auto max-w-[800px]">
      <Link
        className={buttonClass({ variant: 'quiet', size: 'sm' }, 'no-print mb-4 -ms-2.5')}
        to={pathTo('invoices', {})}
      >
        <Icon name="arrowLeft" /> <Trans>Invoices</Trans>
      </Link>
      <SignedIn skeleton={<PageSkeleton />}>
        {() => <InvoiceDocument onEdit={setEditing} />}
      </SignedIn>
      {/* A session that ends leaves the form: what was typed in it is not lost. */}
      {editing && <InvoiceDialog draft={editing} onClose={close} onSaved={close} />}
    </div>
  )
}

type OnEdit = (draft: InvoiceBody) => void

function InvoiceDocument({ onEdit }: { onEdit: OnEdit }) {
  const { invoiceId } = useParams('invoice')
  const { data, error, refetch, isFetching } = useQuery(invoiceQuery(invoiceId))
  if (!data)
    return error ? (
      <Card>
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      </Card>
    ) : (
      <PageSkeleton />
    )
  return (
    <>
      <div className="no-print mb-4 flex flex-wrap items-center justify-between gap-3">
        <InvoiceBadges invoice={data} />
        <InvoiceActions invoice={data} onEdit={onEdit} />
      </div>
      <Card>
        <PrintedInvoice invoice={data} />
      </Card>
    </>
  )
}

/** What stands on paper: one page for usual invoices. */
function PrintedInvoice({ invoice }: { invoice: InvoiceBody }) {
  const { t } = useLingui()
  const { title } = useConfig()
  const { number, issuedOn, dueOn, customer, customerRemovedAt, note, link, state } = invoice
  const page = link === null ? undefined : pageOf(link)
  const removedOn =
    customerRemovedAt === null ? null : formatDate(customerRemovedAt, { dateStyle: 'medium' })
  return (
    <div className="space-y-6">
      <div className="flex flex-wrap items-start justify-between gap-4">
        <div>
          <p className="text-sm text-muted">{title}</p>
          <PageHeading className="text-xl font-semibold">
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
        <dl className="grid grid-cols-[auto_auto] gap-x-4 text-sm">
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
      {customer && (
        <address className="text-sm whitespace-pre-line not-italic [overflow-wrap:anywhere]">
          <span className="block font-medium">{customer.name}</span>
          {customer.address !== null && <span className="block">{customer.address}</span>}
          {customer.email !== null && <span className="block">{customer.email}</span>}
        </address>
      )}
      {removedOn !== null && (
        <p className="text-sm text-muted">
          <Trans>Personal data deleted: {removedOn}</Trans>
        </p>
      )}
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

type Open = 'issue' | 'void' | 'forget' | null

function InvoiceActions({ invoice, onEdit }: { invoice: InvoiceBody; onEdit: OnEdit }) {
  const { t } = useLingui()
  const { id, state, link, customer } = invoice
  const [open, setOpen] = useState<Open>(null)
  const [busy, setBusy] = useState(false)
  const close = () => setOpen(null)

  async function change(work: () => Promise<void>, done: string) {
    setBusy(true)
    try {
      await work()
      toast(done)
    } catch (error) {
      const reason = refusalOf(error)
      toast(joinMessage(reason ? formatRefusal(reason) : describeError(error)), { tone: 'warn' })
      refreshInvoices()
      void queryClient.invalidateQueries(invoiceQuery(id))
    } finally {
      setBusy(false)
      close()
    }
  }
  const body = { id }
  const cached = async (answer: Promise<{ invoice: InvoiceBody }>) =>
    cacheInvoice((await answer).invoice)
  const { draft } = invoice
  const day = draft && formatCalendarDay(draft.issuesOn)
  const due = formatCalendarDay(invoice.dueOn)
  const overdue = draft !== null && invoice.dueOn < draft.issuesOn
  const issue = () =>
    change(
      () => cached(callProxy('invoiceIssue', { body: { id, ...(draft && { draft }) } })),
      t`Invoice issued`,
    )
  const voidInvoice = () =>
    change(() => cached(callProxy('invoiceVoid', { body })), t`Invoice voided`)
  const unvoid = () =>
    change(() => cached(callProxy('invoiceUnvoid', { body })), t`Invoice open again`)
  const remove = () =>
    change(
      async () => {
        await callProxy('invoiceDelete', { body })
        refreshInvoices()
        navigate(pathTo('invoices', {}), { replace: true })
      },
      t`Draft deleted`,
    )
  const forget = () =>
    change(
      async () => {
        await callProxy('invoiceForget', { body: { id: customer?.id ?? '' } })
        cacheInvoice((await callProxy('invoiceRead', { body })).invoice)
      },
      t`Personal data deleted`,
    )

  return (
    <div className="flex flex-wrap gap-2">
      {link !== null && (
        <CopyButton
          label={t`Copy link`}
          primary={state === 'open' || state === 'overdue'}
          text
          value={pageOf(link)}
        />
      )}
      <Button icon={<Icon name="print" size={14} />} onClick={() => window.print()} size="sm">
        <Trans>Print</Trans>
      </Button>
      <ForRole least="operator">
        {state === 'draft' && (
          <>
            <Button onClick={() => onEdit(invoice)} size="sm">
              <Trans>Edit</Trans>
            </Button>
            <Button busy={busy} onClick={() => void remove()} size="sm" variant="quiet">
              <Trans>Delete draft</Trans>
            </Button>
            <Button busy={busy} onClick={() => setOpen('issue')} size="sm" variant="primary">
              <Trans>Issue invoice</Trans>
            </Button>
          </>
        )}
        {(state === 'open' || state === 'overdue') && (
          <Button onClick={() => setOpen('void')} size="sm" variant="quiet">
            <Trans>Void invoice</Trans>
          </Button>
        )}
        {state === 'void' && (
          <Button busy={busy} onClick={() => void unvoid()} size="sm">
            <Trans>Undo void</Trans>
          </Button>
        )}
      </ForRole>
      <ForRole least="owner">
        {customer && state !== 'draft' && (
          <Button onClick={() => setOpen('forget')} size="sm" variant="quiet">
            <Trans>Delete personal data</Trans>
          </Button>
        )}
      </ForRole>
      {open === 'issue' && draft && (
        <Confirm
          action={t`Issue invoice`}
          busy={busy}
          disabled={overdue}
          onClose={close}
          onConfirm={() => void issue()}
          text={`${t`Date: ${day}. Due: ${due}.`} ${
            overdue
              ? t`Due before its issue. Edit the draft.`
              : t`The invoice gets a number and a link, and cannot change.`
          }`}
        />
      )}
      {open === 'void' && (
        <Confirm
          action={t`Void invoice`}
          busy={busy}
          onClose={close}
          onConfirm={() => void voidInvoice()}
          text={t`Its link takes no payment. You can undo this.`}
        />
      )}
      {open === 'forget' && (
        <Confirm
          action={t`Delete personal data`}
          busy={busy}
          onClose={close}
          onConfirm={() => void forget()}
          text={t`All invoices of this customer lose name, email and address. Issued ones keep lines and notes.`}
        />
      )}
    </div>
  )
}

function Confirm({
  action,
  text,
  busy,
  disabled,
  onConfirm,
  onClose,
}: {
  action: string
  text: string
  busy: boolean
  disabled?: boolean
  onConfirm: () => void
  onClose: () => void
}) {
  return (
    <Dialog
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} disabled={disabled} onClick={onConfirm} variant="primary">
            {action}
          </Button>
        </>
      }
      onClose={onClose}
      open
      size="sm"
      title={action}
    >
      <p className="text-sm">{text}</p>
    </Dialog>
  )
}

/** Where a payer opens the link of an invoice. */
function pageOf(link: string): string {
  return new URL(hrefOf(pathTo('payLink', { params: { link } })), window.location.origin).href
}
