import type { RefObject } from 'react'
import type { PaymentNote } from '#contract/note-endpoints.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import type { CustomerNames } from '../../payment-view/CustomerName.tsx'
import type { Selection } from './use-selection.ts'

/** Pixels of one row, as a table's and as a phone's card. */
export const ROW_HEIGHT = 52
export const CARD_HEIGHT = 76

export type RowsInView = {
  /** A row that is not read yet has its place already. */
  rows: readonly { index: number; row: PaymentRow | undefined }[]
  /** Rows that have a place in the list, drawn or not. */
  count: number
  total: number
  notes: ReadonlyMap<string, PaymentNote>
  names: CustomerNames
  selection: Selection
  /** What holds the rows, each at its index times its height. */
  list: RefObject<HTMLElement | null>
}

/** Where a row stands: on its own, so that the others have nothing to do with it. */
export function rowPositionOf(index: number, height: number) {
  return { top: index * height, height }
}
