import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { invoiceTotals } from '#contract/invoice.ts'
import type { InvoiceState } from '#contract/invoice-state.ts'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { whileOnePage } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { csvFile, readerShape } from '../../locales/csv-cell.ts'

export type InvoiceFilter = { state?: InvoiceState | undefined; q?: string | undefined }

const requestOf = ({ state, q }: InvoiceFilter, before?: string | null) => ({
  ...(state && { state }),
  ...(q && { q }),
  ...(before && { before }),
})

/** 50 at a time. */
export function invoicesQuery(filter: InvoiceFilter) {
  return infiniteQueryOptions({
    queryKey: ['invoiceList', filter],
    queryFn: ({ signal, pageParam }) =>
      callProxy('invoiceList', { body: requestOf(filter, pageParam) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: whileOnePage(30_000),
  })
}

export function invoiceQuery(id: string) {
  return queryOptions({
    queryKey: ['invoiceRead', id],
    queryFn: async ({ signal }) =>
      (await callProxy('invoiceRead', { body: { id } }, { signal })).invoice,
    refetchInterval: ({ state: { data } }) =>
      data?.state === 'draft' || data?.state === 'void' ? false : 10_000,
  })
}

export const customersQuery = queryOptions({
  queryKey: ['invoiceCustomers'],
  queryFn: async ({ signal }) => (await callProxy('invoiceCustomers', {}, { signal })).customers,
  staleTime: 15_000,
})

/** After a change: the answer is the invoice, and the list is read again. */
export function cacheInvoice(invoice: InvoiceBody): void {
  queryClient.setQueryData(invoiceQuery(invoice.id).queryKey, invoice)
  refreshInvoices()
}

export function refreshInvoices(): void {
  void queryClient.invalidateQueries({ queryKey: ['invoiceList'] })
  void queryClient.invalidateQueries(customersQuery)
}

/** Drafts name the seller too. */
export function refreshSeller(): void {
  refreshInvoices()
  void queryClient.invalidateQueries({ queryKey: ['invoiceRead'] })
}

const COLUMNS = [
  'number',
  'state',
  'issued_on',
  'due_on',
  'customer',
  'email',
  'currency',
  'net',
  'tax',
  'total',
  'payment_id',
  'refund',
]

/** All invoices of a filter as CSV, page after page. @throws ApiError */
export async function exportInvoices(filter: InvoiceFilter): Promise<string> {
  const text = (value: string | null) => ({ text: value ?? '', figure: false })
  const figure = (value: string) => ({ text: value, figure: true })
  const rows = [COLUMNS.map(text)]
  let before: string | null = null
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(filter, before)
    for (const each of page.invoices) {
      const { net, tax } = invoiceTotals(each.lines, each.currency)
      rows.push([
        ...[each.number, each.state, each.issuedOn, each.dueOn].map(text),
        ...[each.customer?.name ?? null, each.customer?.email ?? null].map(text),
        text(each.currency.code),
        ...[net, tax, each.total].map(figure),
        text(each.payment?.paymentId ?? null),
        // Nobody could say: an empty cell would read as none.
        text(each.payment && (each.payment.refund ?? 'unknown')),
      ])
    }
    before = page.next
  } while (before !== null)
  return csvFile(rows, readerShape())
}

function readPage(filter: InvoiceFilter, before: string | null) {
  return callProxy('invoiceList', { body: requestOf(filter, before) })
}
