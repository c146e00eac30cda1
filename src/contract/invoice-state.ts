/**
 * `draft`: may change, has no number. `confirming`: a payment is on its way or confirmed; `paid`: it
 * is finalized. `overdue`: unpaid after its due date. `void`: cancelled; the number stays.
 */
export const INVOICE_STATES = ['draft', 'open', 'overdue', 'confirming', 'paid', 'void'] as const
export type InvoiceState = (typeof INVOICE_STATES)[number]

export const INVOICE_ID = /^ivc_[1-9A-HJ-NP-Za-km-z]{22}$/
