import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'
import { INVOICE_STATES } from './invoice-state.ts'
import { InvoiceCurrency, InvoiceLine, InvoiceSeller } from './invoice.ts'

/** Invoices and the customers on them: the proxy's own endpoints. */

/** Personal data. Deleting a customer leaves the invoices, without the person. */
export const InvoiceCustomer = v.object({
  id: v.string(),
  name: v.string(),
  email: v.nullable(v.string()),
  address: v.nullable(v.string()),
})
export type InvoiceCustomer = v.InferOutput<typeof InvoiceCustomer>

/** A draft as it was shown: an operator sends it back to issue exactly that. */
export const ShownDraft = v.object({
  /** Changes with everything that the draft says. */
  version: v.string(),
  /** The date that it gets when it is issued now, by the days of the proxy's `TIME_ZONE`. */
  issuesOn: v.string(),
})

export const InvoiceBody = v.object({
  id: v.string(),
  state: v.picklist(INVOICE_STATES),
  /** Null: a draft. */
  number: v.nullable(v.string()),
  issuedOn: v.nullable(v.string()),
  /** Null once it is issued, and for viewers. */
  draft: v.nullable(ShownDraft),
  dueOn: v.string(),
  /** Of a draft: who would issue it now. Null: none is set, or was when it was issued. */
  seller: v.nullable(InvoiceSeller),
  customer: v.nullable(InvoiceCustomer),
  currency: InvoiceCurrency,
  lines: v.array(InvoiceLine),
  /** With tax; `invoiceTotals` gives the parts. */
  total: v.string(),
  note: v.nullable(v.string()),
  /** When the customer was removed; null where that did not happen. */
  customerRemovedAt: v.nullable(timestamp),
  /** The code of the payment link: `/pay/<code>`. */
  link: v.nullable(v.string()),
  /** The payment that pays it: the first that arrived and did not go back in full. */
  payment: v.nullable(
    v.object({
      paymentId: v.string(),
      status: v.string(),
      /** Null where the payment service did not answer. */
      refund: v.nullable(v.picklist(['none', 'partial', 'full'])),
      /** Its block came after its quoted price had ended. */
      late: v.boolean(),
    }),
  ),
  /** Payments that are owed back: they arrived after the one that pays it, or on a void invoice, and did not go back in full. */
  surplus: v.array(v.string()),
  createdAt: timestamp,
})
export type InvoiceBody = v.InferOutput<typeof InvoiceBody>

const InvoiceAnswer = v.object({ invoice: InvoiceBody })
const Numbering = v.object({
  prefix: v.string(),
  /** The number that the next issued invoice gets. */
  next: v.string(),
})

export const invoiceEndpoints = {
  /** Newest first, 50 at a time. */
  invoiceList: {
    method: 'POST',
    path: '/invoices/list',
    response: v.object({
      invoices: v.array(InvoiceBody),
      next: v.nullable(v.string()),
      numbering: Numbering,
      seller: v.nullable(InvoiceSeller),
    }),
  },
  invoiceRead: { method: 'POST', path: '/invoices/read', response: InvoiceAnswer },
  /** Creates a draft, or replaces one. */
  invoiceSave: { method: 'POST', path: '/invoices', response: InvoiceAnswer },
  invoiceDelete: {
    method: 'POST',
    path: '/invoices/delete',
    response: v.object({ deleted: v.literal(true) }),
  },
  /** Gives a draft its number, its date and its payment link. From then on it never changes. */
  invoiceIssue: { method: 'POST', path: '/invoices/issue', response: InvoiceAnswer },
  invoiceVoid: { method: 'POST', path: '/invoices/void', response: InvoiceAnswer },
  /** Reverses that, while nothing was paid. */
  invoiceUnvoid: { method: 'POST', path: '/invoices/unvoid', response: InvoiceAnswer },
  /** For the numbers of invoices that are issued from now on. The sequence goes on. */
  invoicePrefix: { method: 'POST', path: '/invoices/prefix', response: Numbering },
  /** For invoices that are issued from now on. */
  invoiceSeller: {
    method: 'POST',
    path: '/invoices/seller',
    response: v.object({ seller: InvoiceSeller }),
  },
  /** Most recently used first. */
  invoiceCustomers: {
    method: 'GET',
    path: '/invoices/customers',
    response: v.object({ customers: v.array(InvoiceCustomer) }),
  },
  /** Deletes everything personal about a customer, all rows with the same e-mail address, and the notes of their drafts. */
  invoiceForget: {
    method: 'POST',
    path: '/invoices/forget-customer',
    response: v.object({ deleted: v.number() }),
  },
} as const satisfies Record<string, Call>
