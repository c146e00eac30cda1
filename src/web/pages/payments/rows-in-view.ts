import type { PaymentNote } from '#contract/note-endpoints.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import type { Selection } from './use-selection.ts'

/** Pixels of one row, as a table's and as a phone's card. */
export const ROW_HEIGHT = 52
export const CARD_HEIGHT = 76

export type RowsInView = {
  /** A row that is not read yet is drawn as one that comes. */
  rows: readonly { index: number; row: PaymentRow | undefined }[]
  /** Pixels of the rows that are not drawn. */
  before: number
  after: number
  total: number
  notes: ReadonlyMap<string, PaymentNote>
  selection: Selection
}
