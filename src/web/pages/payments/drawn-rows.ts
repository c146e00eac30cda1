import type { RefObject } from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'
import type { PaymentNote } from '#contract/payment-endpoints.ts'
import type { CustomerNames } from '../../payment-view/CustomerName.tsx'
import type { Selection } from './use-selection.ts'

/** Rows of a list by index, from the first to the last of them; none when `to` is below `from`. */
export type RowRange = { from: number; to: number }

/** Rows drawn beyond those in view, so that scrolling finds them drawn. */
const BEYOND = 8
/** Rows added per frame. Adding all at once delays the frame noticeably. */
const AT_ONCE = 3

/**
 * The next range to draw: the rows in view first, then some beyond, a few at a time. If no drawn
 * row is near, the rows that stay in view longest come first. The final range returns itself.
 */
export function nextDrawn(drawn: RowRange, sight: RowRange, count: number): RowRange {
  const far = { from: Math.max(0, sight.from - BEYOND), to: Math.min(count - 1, sight.to + BEYOND) }
  const overlap = { from: Math.max(drawn.from, far.from), to: Math.min(drawn.to, far.to) }
  const down = drawn.from <= drawn.to && drawn.to < far.from
  const start = down ? sight.to + 1 : sight.from
  const { from, to } = overlap.from <= overlap.to ? overlap : { from: start, to: start - 1 }
  let left = AT_ONCE
  const some = (most: number) => {
    const taken = Math.max(0, Math.min(left, most))
    left -= taken
    return taken
  }
  const seenTo = to + some(sight.to - to)
  const seenFrom = from - some(from - sight.from)
  const next = { to: seenTo + some(far.to - seenTo), from: seenFrom - some(seenFrom - far.from) }
  return next.from === drawn.from && next.to === drawn.to ? drawn : next
}

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
