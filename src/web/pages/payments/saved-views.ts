import * as v from 'valibot'
import type { PaymentFilter } from '../../api/payment-filter.ts'
import { browserStore } from '../../local-data/browser-store.ts'
import { readSearch } from '../../router/paths.ts'

/** A set of filters under a name, in this browser. */
export type SavedView = { id: string; name: string; filter: PaymentFilter }

const MOST_VIEWS = 30
const Stored = v.array(
  v.object({
    id: v.string(),
    name: v.pipe(v.string(), v.maxLength(60)),
    filter: v.record(v.string(), v.optional(v.string())),
  }),
)

const store = browserStore<readonly SavedView[]>('paydesk.views', parse)

export function useSavedViews(): readonly SavedView[] {
  return store.use()
}

export function getSavedViews(): readonly SavedView[] {
  return store.get()
}

/** A view of the same name gives way to it. */
export function saveView(name: string, filter: PaymentFilter): SavedView {
  const view = { id: crypto.randomUUID(), name, filter }
  store.set([...store.get().filter((each) => each.name !== name), view].slice(-MOST_VIEWS))
  return view
}

/** @returns puts it back where it was */
export function removeView(id: string): () => void {
  const at = store.get().findIndex((view) => view.id === id)
  const removed = store.get()[at]
  store.set(store.get().filter((view) => view.id !== id))
  return () => {
    if (removed && !store.get().some((view) => view.id === id))
      store.set(store.get().toSpliced(at, 0, removed))
  }
}

/** Whether two sets of filters are one view. */
export function isSameFilter(a: PaymentFilter, b: PaymentFilter): boolean {
  const text = (filter: PaymentFilter) =>
    JSON.stringify(
      Object.entries(filter)
        .filter(([, value]) => value)
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    )
  return text(a) === text(b)
}

function parse(text: string | null): readonly SavedView[] {
  try {
    const stored = v.safeParse(Stored, JSON.parse(text ?? '[]'))
    return stored.success
      ? stored.output.map(({ id, name, filter }) => ({
          id,
          name,
          filter: readSearch('payments', filter),
        }))
      : []
  } catch {
    return []
  }
}
