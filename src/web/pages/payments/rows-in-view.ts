import type { PaymentRow } from '#contract/payment-body.ts'

/** Pixels of one row, as a table's and as a phone's card. */
export const ROW_HEIGHT = 60
export const CARD_HEIGHT = 76

export type RowsInView = {
  rows: readonly { index: number; row: PaymentRow }[]
  /** Pixels of the rows that are not drawn. */
  before: number
  after: number
  total: number
}
