import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import * as v from 'valibot'
import { browserStore } from '../../browser-store.ts'

/** What the table can show. `pixels` is the least a column needs; `grow` takes a share of what is left. The usual ones fit a laptop beside the menu. */
export const columns = {
  amount: { label: msg`Amount`, pixels: 176 },
  status: { label: msg`Status`, pixels: 132 },
  party: { label: msg`From or to`, pixels: 124 },
  purpose: { label: msg`For`, pixels: 140, grow: true },
  labels: { label: msg`Labels`, pixels: 112 },
  network: { label: msg`Network`, pixels: 140 },
  reference: { label: msg`Reference`, pixels: 150, grow: true },
  transaction: { label: msg`Transaction`, pixels: 148 },
  date: { label: msg`Date`, pixels: 184, end: true },
} as const satisfies Record<string, { label: MessageDescriptor; pixels: number; grow?: true; end?: true }>

export type ColumnName = keyof typeof columns
export const COLUMN_NAMES = Object.keys(columns) as ColumnName[]

/** Always there: without it a row has no name. */
export const FIXED_COLUMN: ColumnName = 'amount'
const USUAL: readonly ColumnName[] = ['amount', 'status', 'party', 'purpose', 'labels', 'date']

const Stored = v.array(v.picklist(COLUMN_NAMES))

const store = browserStore<readonly ColumnName[]>('paydesk.columns', (text) => {
  try {
    const stored = v.safeParse(Stored, JSON.parse(text ?? 'null'))
    return stored.success ? inOrder([FIXED_COLUMN, ...stored.output]) : USUAL
  } catch {
    return USUAL
  }
})

export function useColumns(): readonly ColumnName[] {
  return store.use()
}

export function toggleColumn(name: ColumnName): void {
  const shown = store.get()
  store.set(inOrder(shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name]))
}

export function resetColumns(): void {
  store.set(USUAL)
}

function inOrder(names: readonly ColumnName[]): readonly ColumnName[] {
  return COLUMN_NAMES.filter((name) => names.includes(name))
}
