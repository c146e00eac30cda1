import * as v from 'valibot'
import { parseAddress, type Family } from '#contract/address.ts'
import { cleanText } from '../clean-text.ts'

export const MAX_NAME = 60
export const MAX_ENTRIES = 1_000

/** A recipient that the owner of this browser saved under a chosen name. */
export type Entry = {
  name: string
  /** In its normal form: EIP-55, or base58. One entry per address. */
  address: string
  family: Family
  /** CAIP-2 ids where this address may be paid; none means all networks of its family. */
  networks: readonly string[]
}

const Stored = v.object({
  name: v.string(),
  address: v.pipe(v.string(), v.maxLength(64)),
  networks: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(64))), v.maxLength(20)), []),
})

export type EntryProblem = 'no_name' | 'not_an_address' | 'bad_checksum' | 'not_an_entry'

/** Reads one entry, from a form or from a file, into its normal form. */
export function readEntry(
  value: unknown,
): { ok: true; entry: Entry } | { ok: false; problem: EntryProblem } {
  const stored = v.safeParse(Stored, value)
  if (!stored.success) return { ok: false, problem: 'not_an_entry' }
  const name = cleanText(stored.output.name).text.trim().replace(/\s+/g, ' ').slice(0, MAX_NAME)
  if (!name) return { ok: false, problem: 'no_name' }
  const parsed = parseAddress(stored.output.address.trim())
  if (!parsed.ok) return { ok: false, problem: parsed.problem }
  const prefix = parsed.family === 'evm' ? 'eip155:' : 'solana:'
  const networks = stored.output.networks.filter((network) => network.startsWith(prefix))
  return {
    ok: true,
    entry: {
      name,
      address: parsed.address,
      family: parsed.family,
      networks: [...new Set(networks)],
    },
  }
}

/** Whether an entry may be paid on a network. */
export function isForNetwork(entry: Entry, network: string): boolean {
  if (entry.networks.length > 0) return entry.networks.includes(network)
  return network.startsWith(entry.family === 'evm' ? 'eip155:' : 'solana:')
}
