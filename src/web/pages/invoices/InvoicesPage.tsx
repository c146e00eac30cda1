import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { INVOICE_STATES } from '#contract/invoice-state.ts'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { useRole } from '../../api/session.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { formatPrice } from '../../locales/formats.ts'
import { formatCalendarDay } from '../../payment-flow/format-calendar-day.ts'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { ForRole } from '../../session/ForRole.tsx'
import { NoAccess } from '../../shell/NoAccess.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { saveFile } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { SearchBox } from '../../ui/SearchBox.tsx'
import { Select } from '../../ui/Select.tsx'
import { toast } from '../../ui/Toast.tsx'
import { InvoiceBadges, STATE_WORDS } from './InvoiceBadges.tsx'
import { InvoiceDialog } from './InvoiceDialog.tsx'
import { SellerButton } from './SellerButton.tsx'
import {
  exportInvoices,
  invoicesQuery,
  refreshInvoices,
  type InvoiceFilter,
} from './invoice-queries.ts'

/** The merchant's invoices: create, find, export. */
export function InvoicesPage() {
  const { t } = useLingui()
  const role = useRole()
  const [creating, setCreating] = useState(false)
  const filter = useSearch('invoices')
  const { data } = useInfiniteQuery({ ...invoicesQuery(filter), enabled: role !== null })
  const none = !isFiltered(filter) && data?.pages[0]?.invoices.length === 0
  const newInvoice = (
    <ForRole least="operator">
      <Button onClick={() => setCreating(true)} variant="primary">
        <Trans>New invoice</Trans>
      </Button>
    </ForRole>
  )
  return (
    <div className="mx-auto max-w-[1080px]">
      <PageHeader action={!none && newInvoice} title={t`Invoices`} />
      <SignedIn skeleton={<PageSkeleton />}>
        {() =>
          role === null ? <NoAccess icon="table" /> : <InvoiceList newInvoice={newInvoice} />
        }
      </SignedIn>
      {creating && (
        <InvoiceDialog
          draft={undefined}
          onClose={() => setCreating(false)}
          onSaved={({ id }) => {
            // At once, whatever the next page takes: a second press would make a second draft.
            setCreating(false)
            navigate(pathTo('invoice', { params: { invoiceId: id } }))
          }}
        />
      )}
    </div>
  )
}

function isFiltered({ q, state }: InvoiceFilter): boolean {
  return q !== undefined || state !== undefined
}

function InvoiceList({ newInvoice }: { newInvoice: ReactNode }) {
  const { t } = useLingui()
  const filter = useSearch('invoices')
  const query = useInfiniteQuery({
    ...invoicesQuery(filter),
    placeholderData: keepPreviousData,
  })
  const [numbering, setNumbering] = useState(false)
  const pages = query.data?.pages
  const invoices = pages?.flatMap((page) => page.invoices)
  const change = (changed: InvoiceFilter) =>
    navigate(pathTo('invoices', { search: { ...filter, ...changed } }), { replace: true })
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <SearchBox
          label={t`Search`}
          onSearch={(text) => change({ q: text || undefined })}
          placeholder={t`Number or customer`}
          text={filter.q ?? ''}
        />
        <Select
          aria-label={t`Status`}
          className="w-auto"
          onChange={({ target }) =>
            change({ state: INVOICE_STATES.find((state) => state === target.value) })
          }
          value={filter.state ?? ''}
        >
          <option value="">{t`Any status`}</option>
          {INVOICE_STATES.map((state) => (
            <option key={state} value={state}>
              {t(STATE_WORDS[state].label)}
            </option>
          ))}
        </Select>
        <ExportButton filter={filter} />
        <ForRole least="operator">
          <Button onClick={() => setNumbering(true)} variant="quiet">
            <Trans>Numbering</Trans>
          </Button>
          {pages?.[0] && <SellerButton seller={pages[0].seller} />}
        </ForRole>
      </div>
      {invoices ? (
        invoices.length === 0 ? (
          <Card>
            {isFiltered(filter) || query.isPlaceholderData ? (
              <EmptyState icon="table" title={t`No invoices`} />
            ) : (
              <EmptyState action={newInvoice} icon="table" title={t`Bill customers by link.`} />
            )}
          </Card>
        ) : (
          <ul
            aria-label={t`Invoices`}
            className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
          >
            {invoices.map((invoice) => (
              <InvoiceItem invoice={invoice} key={invoice.id} />
            ))}
          </ul>
        )
      ) : query.error ? (
        <Card>
          <QueryError
            busy={query.isFetching}
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        </Card>
      ) : (
        <PageSkeleton />
      )}
      {query.hasNextPage && (
        <Button
          busy={query.isFetchingNextPage}
          className="mt-3"
          onClick={() => void query.fetchNextPage()}
          size="sm"
        >
          <Trans>Show more</Trans>
        </Button>
      )}
      {numbering && pages?.[0] && (
        <NumberingDialog numbering={pages[0].numbering} onClose={() => setNumbering(false)} />
      )}
    </>
  )
}

function InvoiceItem({ invoice }: { invoice: InvoiceBody }) {
  const { t } = useLingui()
  const { id, number, customer, dueOn, total, currency } = invoice
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-5 py-4">
      <div className="min-w-40 flex-1 [overflow-wrap:anywhere]">
        <Link
          className="font-medium underline decoration-edge underline-offset-4"
          to={pathTo('invoice', { params: { invoiceId: id } })}
        >
          {number ?? t`Draft`}
        </Link>
        <p className="text-sm text-muted">
          {customer && <>{customer.name} · </>}
          <Trans>Due {formatCalendarDay(dueOn)}</Trans>
        </p>
      </div>
      <InvoiceBadges invoice={invoice} />
      <p className="figures text-end font-medium sm:w-36">{formatPrice(total, currency.code)}</p>
    </li>
  )
}

function ExportButton({ filter }: { filter: InvoiceFilter }) {
  const [busy, setBusy] = useState(false)

  async function download() {
    setBusy(true)
    try {
      const file = new Blob([await exportInvoices(filter)], { type: 'text/csv;charset=utf-8' })
      saveFile(file, 'invoices.csv')
    } catch (error) {
      toast(joinMessage(describeError(error)), { tone: 'bad' })
    } finally {
      setBusy(false)
    }
  }

  return (
    <Button busy={busy} icon={<Icon name="download" />} onClick={() => void download()}>
      <Trans>Export</Trans>
    </Button>
  )
}

function NumberingDialog({
  numbering,
  onClose,
}: {
  numbering: { prefix: string; next: string }
  onClose: () => void
}) {
  const { t } = useLingui()
  const [prefix, setPrefix] = useState(numbering.prefix)
  const [failure, setFailure] = useState<string>()
  const [busy, setBusy] = useState(false)

  async function save() {
    setBusy(true)
    try {
      await callProxy('invoicePrefix', { body: { prefix } })
      refreshInvoices()
      onClose()
    } catch (error) {
      setFailure(joinMessage(describeError(error)))
      setBusy(false)
    }
  }

  return (
    <Dialog
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} onClick={() => void save()} variant="primary">
            <Trans>Save</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      size="sm"
      title={t`Numbering`}
    >
      <Field
        error={failure}
        hint={t`Letters, digits, / _ . - and no final digit.`}
        label={t`Prefix`}
      >
        <Input maxLength={20} onChange={({ target }) => setPrefix(target.value)} value={prefix} />
      </Field>
      <p className="mt-3 text-sm text-muted">
        <Trans>Next number: {numbering.next}</Trans>
      </p>
    </Dialog>
  )
}
