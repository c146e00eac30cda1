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
  return store.get().find((entry) => entry.address === address)
}

/** Adds an entry; one with the same address is replaced. @returns what puts the book back as it was, for an undo. */
export function saveEntry(entry: Entry): () => void {
  return replace((entries) => [
    ...entries.filter(({ address }) => address !== entry.address),
    entry,
  ])
}

/** @returns what brings the entry back, for an undo */
export function removeEntry(address: string): () => void {
  return replace((entries) => entries.filter((entry) => entry.address !== address))
}

export function replaceAll(entries: readonly Entry[]): () => void {
  return replace(() => entries)
}

function replace(change: (entries: readonly Entry[]) => readonly Entry[]): () => void {
  const before = store.get()
  store.set(change(before).slice(0, MAX_ENTRIES).toSorted(byName))
  return () => store.set(before)
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
