import { parseAddress, type Family } from './address.ts'
import type { RecipientReason } from './reasons.ts'

export type ReadRecipient = { ok: true; address: string } | { ok: false; reason: RecipientReason }

/** The recipient in its normal form, or why its spelling cannot be an address of this kind of network. */
export function readRecipient(text: string, expected: Family): ReadRecipient {
  const parsed = parseAddress(text)
  if (!parsed.ok && parsed.problem === 'bad_checksum')
    return { ok: false, reason: { code: 'bad_checksum', params: {} } }
  if (!parsed.ok) return { ok: false, reason: { code: 'not_an_address', params: { expected } } }
  if (parsed.family !== expected)
    return { ok: false, reason: { code: 'other_network_family', params: { expected } } }
  return { ok: true, address: parsed.address }
}
