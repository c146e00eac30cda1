import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import type { RecipientReason } from './reasons.ts'

export { EVM_NATIVE, shortAddress, SOLANA_NATIVE } from './known-address.ts'

/** The kind of chain an address belongs to. Its spelling decides: `0x` and 40 hex digits, or base58 of 32 bytes. */
export type Family = 'evm' | 'solana'

export type ParsedAddress =
  | { ok: true; family: Family; address: string }
  | { ok: false; problem: 'not_an_address' | 'bad_checksum' }

const EVM = /^0x[0-9a-fA-F]{40}$/
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** Reads an address into its normal form: EIP-55 on EVM, base58 on Solana. A mixed-case EVM address must carry a right checksum. */
export function parseAddress(text: string): ParsedAddress {
  if (EVM.test(text)) {
    const address = checksumAddress(text)
    const hex = text.slice(2)
    const mixed = hex !== hex.toLowerCase() && hex !== hex.toUpperCase()
    if (mixed && address !== text) return { ok: false, problem: 'bad_checksum' }
    return { ok: true, family: 'evm', address }
  }
  if (BASE58.test(text)) {
    const bytes = bs58.decodeUnsafe(text)
    if (bytes?.length === 32) return { ok: true, family: 'solana', address: text }
  }
  return { ok: false, problem: 'not_an_address' }
}

/** Spellings that were worked out already. The same sellers and tokens are named again and again. */
const spelled = new Map<string, string>()
const MOST_SPELLED = 1_000

/** EIP-55 spelling of an address that is known to be `0x` and 40 hex digits. */
export function checksumAddress(text: string): string {
  const known = spelled.get(text)
  if (known !== undefined) return known
  const address = withChecksum(text)
  if (spelled.size === MOST_SPELLED) spelled.clear()
  spelled.set(text, address)
  return address
}

function withChecksum(text: string): string {
  const hex = text.slice(2).toLowerCase()
  const hash = bytesToHex(keccak_256(utf8ToBytes(hex)))
  let address = '0x'
  for (let index = 0; index < 40; index++) {
    const char = hex.charAt(index)
    address += Number.parseInt(hash.charAt(index), 16) >= 8 ? char.toUpperCase() : char
  }
  return address
}

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
