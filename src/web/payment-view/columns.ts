import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import * as v from 'valibot'
import { createBrowserStore, createStore } from '../local-data/store.ts'

/** What the table can show. `pixels` is the least a column needs; `grow` takes a share of what is left. */
export const columns = {
  amount: { label: msg`Amount`, pixels: 184, end: true },
  status: { label: msg`Status`, pixels: 132 },
  /** To people of the account a customer by name. */
  party: { label: msg`From or to`, pixels: 140 },
  purpose: { label: msg`For`, pixels: 140, grow: true },
  labels: { label: msg`Labels`, pixels: 112 },
  network: { label: msg`Network`, pixels: 140 },
  reference: { label: msg`Reference`, pixels: 150, grow: true },
  transaction: { label: msg`Transaction`, pixels: 148 },
  date: { label: msg`Date`, pixels: 184, end: true },
} as const satisfies Record<
  string,
  { label: MessageDescriptor; pixels: number; grow?: true; end?: true }
>

export type ColumnName = keyof typeof columns
export const COLUMN_NAMES = Object.keys(columns) as ColumnName[]

/** Always there: without it a row has no name. */
export const FIXED_COLUMN: ColumnName = 'amount'
const USUAL: readonly ColumnName[] = ['amount', 'status', 'party', 'purpose', 'labels', 'date']
/** Where there is no room for all of the usual ones, these leave, the first one first: a payment's own page shows them too. */
const LEAVING: readonly ColumnName[] = ['labels', 'purpose']
const USUAL_BY_ROOM = Array.from({ length: LEAVING.length + 1 }, (_, count) =>
  USUAL.filter((name) => !LEAVING.slice(0, count).includes(name)),
)

/** Of the box that picks a row, before the columns. */
export const PICK_PIXELS = 52

/** What these columns need beside each other. */
export function leastPixels(shown: readonly ColumnName[]): number {
  return shown.reduce((sum, name) => sum + columns[name].pixels, PICK_PIXELS)
}

const Stored = v.array(v.string())

/** The columns somebody chose; null while it is left to the room there is. */
const chosen = createBrowserStore<readonly ColumnName[] | null>('paydesk.columns', readColumns)

/** What a browser has stored; null where that is no list of columns. */
export function readColumns(text: string | null): readonly ColumnName[] | null {
  try {
    const stored = v.safeParse(Stored, JSON.parse(text ?? 'null'))
    if (!stored.success) return null
    // Customers had a column of their own before: they are named in that of the other party now.
    const names = stored.output.map((name) => (name === 'customer' ? 'party' : name))
    return inOrder([FIXED_COLUMN, ...names])
  } catch {
    return null
  }
}

const fitting = createStore(USUAL)

/**
 * Tells how wide the list is, and whether anybody wrote a note beside its payments. Columns that
 * somebody chose stay, and scroll where they do not fit.
 */
export function fitColumns(pixels: number, noted: boolean): void {
  const next =
    USUAL_BY_ROOM.slice(noted ? 0 : 1).find((each) => leastPixels(each) <= pixels) ??
    USUAL_BY_ROOM.at(-1) ??
    USUAL
  if (next !== fitting.get()) fitting.set(next)
}

export function useColumns(): readonly ColumnName[] {
  const fit = fitting.use()
  return chosen.use() ?? fit
}

export function shownColumns(): readonly ColumnName[] {
  return chosen.get() ?? fitting.get()
}

export function toggleColumn(name: ColumnName): void {
  const shown = shownColumns()
  chosen.set(
    inOrder(shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name]),
  )
}

export function resetColumns(): void {
  chosen.set(null)
}

function inOrder(names: readonly string[]): readonly ColumnName[] {
  return COLUMN_NAMES.filter((name) => names.includes(name))
}
