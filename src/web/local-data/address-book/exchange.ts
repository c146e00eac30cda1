import * as v from 'valibot'
import { parseJson } from '#contract/json.ts'
import { readEntry, type Entry, type EntryProblem } from './entry.ts'

const FORMAT = 'paydesk-address-book'
const File = v.object({ format: v.literal(FORMAT), entries: v.array(v.unknown()) })

/** The whole book as a file: JSON, the networks by their CAIP-2 ids. */
export function exportAddresses(entries: readonly Entry[]): string {
  const plain = entries.map(({ name, address, networks }) => ({
    name,
    address,
    ...(networks.length > 0 && { networks }),
  }))
  return `${JSON.stringify({ format: FORMAT, version: 1, entries: plain }, null, 2)}\n`
}

export type Import = {
  /** The book as it would be. */
  entries: Entry[]
  added: number
  /** Addresses that were there under another name or for other networks. */
  changed: number
  refused: { line: number; problem: EntryProblem }[]
}

/** Reads a file of `exportBook` into a book. What cannot be read is named, by its place in the file, and the rest is taken. */
export function importAddresses(
  text: string,
  book: readonly Entry[],
): { ok: true; result: Import } | { ok: false } {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    return { ok: false }
  }
  const file = v.safeParse(File, value)
  if (!file.success) return { ok: false }

  const byAddress = new Map(book.map((entry) => [entry.address, entry]))
  const result: Import = { entries: [], added: 0, changed: 0, refused: [] }
  for (const [index, each] of file.output.entries.entries()) {
    const read = readEntry(each)
    if (!read.ok) {
      result.refused.push({ line: index + 1, problem: read.problem })
      continue
    }
    const known = byAddress.get(read.entry.address)
    if (!known) result.added++
    else if (!isSame(known, read.entry)) result.changed++
    byAddress.set(read.entry.address, read.entry)
  }
  result.entries = [...byAddress.values()]
  return { ok: true, result }
}

function isSame(one: Entry, other: Entry): boolean {
  return one.name === other.name && one.networks.join() === other.networks.join()
}
