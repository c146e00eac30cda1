/**
 * `draft`: may change, has no number. `confirming`: a payment is on its way or confirmed; `paid`: it
 * is finalized. `overdue`: unpaid after its due date. `void`: cancelled; the number stays.
 */
export const INVOICE_STATES = ['draft', 'open', 'overdue', 'confirming', 'paid', 'void'] as const
export type InvoiceState = (typeof INVOICE_STATES)[number]
