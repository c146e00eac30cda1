import { createBrowserStore } from './store.ts'

/** So many are remembered here; the explorer lists all. */
const MOST = 20

const store = createBrowserStore<readonly string[]>('paydesk:open-purchases', (text) => {
  try {
    const ids: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
})

/** Ids of paid requests that were begun in this browser and not answered yet: a page can tell without opening their journal. */
export const useOpenPurchases = store.use

export function noteOpenPurchase(id: string, open: boolean): void {
  const others = store.get().filter((each) => each !== id)
  if (open !== store.get().includes(id)) store.set(open ? [...others.slice(1 - MOST), id] : others)
}
