import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { describeError } from '../../errors/codes.ts'
import { formatRefusal, refusalOf } from '../../errors/refusals.ts'
import { joinMessage } from '../../errors/row.ts'
import { formatCalendarDay } from '../../payment-flow/format-calendar-day.ts'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useParams } from '../../router/use-route.tsx'
import { ForRole } from '../../session/ForRole.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { toast } from '../../ui/Toast.tsx'
import { InvoiceBadges } from './InvoiceBadges.tsx'
import { InvoiceDialog } from './InvoiceDialog.tsx'
import { pageOf, PrintedInvoice } from './PrintedInvoice.tsx'
import { SellerButton } from './SellerButton.tsx'
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
    <InvoiceActions invoice={data} onEdit={onEdit}>
      <Card>
        <PrintedInvoice
          invoice={data}
          sellerAction={data.state === 'draft' && <SellerButton seller={data.seller} />}
        />
      </Card>
    </InvoiceActions>
  )
}

type Open = 'issue' | 'void' | 'forget' | null

/** What can be done about an invoice: the next step above it, what ends it or deletes below it. */
function InvoiceActions({
  invoice,
  onEdit,
  children,
}: {
  invoice: InvoiceBody
  onEdit: OnEdit
  children: ReactNode
}) {
  const { t } = useLingui()
  const { id, state, link, customer } = invoice
  const [open, setOpen] = useState<Open>(null)
  const [busy, setBusy] = useState(false)
  const close = () => setOpen(null)
  const payable = state === 'open' || state === 'overdue'

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
    <>
      <div className="no-print mb-4 flex flex-wrap items-center justify-between gap-3">
        <InvoiceBadges invoice={invoice} />
        <div className="flex flex-wrap gap-2">
          <Button icon={<Icon name="print" size={14} />} onClick={() => window.print()} size="sm">
            <Trans>Print</Trans>
          </Button>
          <ForRole least="operator">
            {state === 'draft' && (
              <>
                <Button onClick={() => onEdit(invoice)} size="sm">
                  <Trans>Edit</Trans>
                </Button>
                <Button busy={busy} onClick={() => setOpen('issue')} size="sm" variant="primary">
                  <Trans>Issue invoice</Trans>
                </Button>
              </>
            )}
            {state === 'void' && (
              <Button busy={busy} onClick={() => void unvoid()} size="sm">
                <Trans>Undo void</Trans>
              </Button>
            )}
          </ForRole>
          {link !== null && (
            <CopyButton label={t`Copy link`} primary={payable} text value={pageOf(link)} />
          )}
        </div>
      </div>
      {children}
      <LastActions
        busy={busy}
        invoice={invoice}
        onDelete={() => void remove()}
        onOpen={setOpen}
        payable={payable}
      />
      {open === 'issue' && draft && (
        <ConfirmIssue
          busy={busy}
          isUnnamed={invoice.seller === null}
          dueOn={invoice.dueOn}
          issuesOn={draft.issuesOn}
          onClose={close}
          onConfirm={() => void issue()}
        />
      )}
      {open === 'void' && (
        <Confirm
          action={t`Void invoice`}
          busy={busy}
          onClose={close}
          onConfirm={() => void voidInvoice()}
          text={t`Its link closes. You can undo this.`}
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
    </>
  )
}

/** What voids or deletes. */
function LastActions({
  invoice: { state, customer },
  payable,
  busy,
  onDelete,
  onOpen,
}: {
  invoice: InvoiceBody
  payable: boolean
  busy: boolean
  onDelete: () => void
  onOpen: (open: Open) => void
}) {
  return (
    <div className="no-print mt-4 flex flex-wrap justify-end gap-2">
      <ForRole least="operator">
        {state === 'draft' && (
          <Button busy={busy} onClick={onDelete} size="sm" variant="quiet">
            <Trans>Delete draft</Trans>
          </Button>
        )}
        {payable && (
          <Button onClick={() => onOpen('void')} size="sm" variant="quiet">
            <Trans>Void invoice</Trans>
          </Button>
        )}
      </ForRole>
      <ForRole least="owner">
        {customer && state !== 'draft' && (
          <Button onClick={() => onOpen('forget')} size="sm" variant="quiet">
            <Trans>Delete personal data</Trans>
          </Button>
        )}
      </ForRole>
    </div>
  )
}

function ConfirmIssue({
  dueOn,
  issuesOn,
  isUnnamed,
  ...rest
}: Pick<ConfirmProps, 'busy' | 'onConfirm' | 'onClose'> & {
  dueOn: string
  issuesOn: string
  /** Whether no seller is set: an issued invoice gets none later. */
  isUnnamed: boolean
}) {
  const { t } = useLingui()
  const day = formatCalendarDay(issuesOn)
  const due = formatCalendarDay(dueOn)
  const overdue = dueOn < issuesOn
  return (
    <Confirm
      {...rest}
      action={t`Issue invoice`}
      disabled={overdue}
      text={`${t`Date: ${day}. Due: ${due}.`} ${
        overdue
          ? t`Due before its issue. Edit the draft.`
          : t`It gets a number and a link, and cannot change.`
      }${isUnnamed ? ` ${t`Seller details are missing.`}` : ''}`}
    />
  )
}

type ConfirmProps = {
  action: string
  text: string
  busy: boolean
  disabled?: boolean
  onConfirm: () => void
  onClose: () => void
}

function Confirm({ action, text, busy, disabled, onConfirm, onClose }: ConfirmProps) {
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
