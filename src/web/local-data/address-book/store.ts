import * as v from 'valibot'
import { parseJson } from '#contract/json.ts'
import { createBrowserStore } from '../store.ts'
import { MAX_ENTRIES, readEntry, type Entry } from './entry.ts'

const store = createBrowserStore('paydesk.address-book', parse)

/** Everyone in the book, by name. */
export function useAddressBook(): readonly Entry[] {
  return store.use()
}

export function getAddressBook(): readonly Entry[] {
  return store.get()
}

/** The entry of an address in its normal form. */
export function findEntry(address: string): Entry | undefined {
  return find(store.get(), address)
}

/** Adds an entry; one with the same address is replaced. */
export function saveEntry(entry: Entry): void {
  replaceAll([...store.get().filter(({ address }) => address !== entry.address), entry])
}

/** @returns what brings the entry back, for an undo */
export function removeEntry(address: string): () => void {
  return replaceAll(store.get().filter((entry) => entry.address !== address))
}

/** @returns what undoes this change, and leaves what was changed since */
export function replaceAll(entries: readonly Entry[]): () => void {
  const before = store.get()
  store.set(entries.slice(0, MAX_ENTRIES).toSorted(byName))
  const after = store.get()
  return () => {
    const now = store.get()
    const changed = [...before, ...after].map(({ address }) => address)
    const undone = new Set(
      changed.filter(
        (address) =>
          isSame(find(now, address), find(after, address)) &&
          !isSame(find(before, address), find(after, address)),
      ),
    )
    const others = now.filter(({ address }) => !undone.has(address))
    replaceAll([...others, ...before.filter(({ address }) => undone.has(address))])
  }
}

function find(entries: readonly Entry[], address: string): Entry | undefined {
  return entries.find((entry) => entry.address === address)
}

/** Another tab may have written an entry again, as it was. */
function isSame(one: Entry | undefined, other: Entry | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function byName(one: Entry, other: Entry): number {
  return one.name.localeCompare(other.name) || (one.address < other.address ? -1 : 1)
}

function parse(text: string | null): readonly Entry[] {
  try {
    const list = v.safeParse(v.array(v.unknown()), parseJson(text ?? '[]'))
    return list.success ? list.output.flatMap((value) => readOne(value)).slice(0, MAX_ENTRIES) : []
  } catch {
    return []
  }
}

function readOne(value: unknown): Entry[] {
  const result = readEntry(value)
  return result.ok ? [result.entry] : []
}
