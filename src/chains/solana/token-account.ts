import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAMS } from './programs.ts'

/** What the token programs keep in an account, as far as a payment depends on it. */

/** A wallet's tokens of one mint. `frozen`: the issuer has stopped the account. */
export type TokenAccount = { mint: string; owner: string; amountAtomic: bigint; frozen: boolean }

/** Length of both kinds of account in the older program; Token-2022 says at the end of the longer one which of them it is. */
export const MINT_BYTES = 82
const ACCOUNT_BYTES = 165
const KIND_OFFSET = ACCOUNT_BYTES
const KIND = { mint: 1, account: 2 } as const

type AccountData = { owner: string; data: Uint8Array }

/** A token account; undefined when the account is anything else, or not initialized. */
export function readTokenAccount({ owner, data }: AccountData): TokenAccount | undefined {
  const long = data.length > ACCOUNT_BYTES && data[KIND_OFFSET] === KIND.account
  if (!TOKEN_PROGRAMS.includes(owner) || (data.length !== ACCOUNT_BYTES && !long)) return undefined
  const state = data[108]
  if (state !== 1 && state !== 2) return undefined
  return {
    mint: keyAt(data, 0),
    owner: keyAt(data, 32),
    amountAtomic: viewOf(data).getBigUint64(64, true),
    frozen: state === 2,
  }
}

/** Whether the account is the mint of a token. */
export function isMintAccount({ owner, data }: AccountData): boolean {
  return (
    TOKEN_PROGRAMS.includes(owner) &&
    (data.length === MINT_BYTES || (data.length > KIND_OFFSET && data[KIND_OFFSET] === KIND.mint))
  )
}

/** One extension of a Token-2022 account, by its number. */
export type Extension = { type: number; value: Uint8Array }

/** The extensions behind a mint or a token account; none in the older program. Stops at what is not whole. */
export function readExtensions(data: Uint8Array): Extension[] {
  const extensions: Extension[] = []
  const view = viewOf(data)
  for (let offset = KIND_OFFSET + 1; offset + 4 <= data.length;) {
    const [type, length] = [view.getUint16(offset, true), view.getUint16(offset + 2, true)]
    const end = offset + 4 + length
    if (type === 0 || end > data.length) break
    extensions.push({ type, value: data.subarray(offset + 4, end) })
    offset = end
  }
  return extensions
}

export function keyAt(data: Uint8Array, offset: number): string {
  return bs58.encode(data.subarray(offset, offset + 32))
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}

/** The owner of tokens, their mint, and the token program of the two. */
export type TokenHolding = { owner: string; mint: string; program: string }

const MARKER = utf8ToBytes('ProgramDerivedAddress')

/** A derivation takes some tenths of a millisecond, and the same few are needed again and again. */
const MAX_KNOWN = 500
const known = new Map<string, { address: string; bump: number }>()

/**
 * Where a wallet's tokens of a mint are held: the associated token account, an address without a
 * key. It follows from owner, program and mint alone, so it is computed here and never taken from
 * input.
 * @returns `bump`: how far the search went, from 255 down; opening the account repeats the search
 * on the chain
 */
export function associatedTokenAccount({ owner, mint, program }: TokenHolding): {
  address: string
  bump: number
} {
  const key = `${owner} ${program} ${mint}`
  const derived = known.get(key) ?? derive([owner, program, mint].map((part) => bs58.decode(part)))
  known.delete(key)
  known.set(key, derived)
  const oldest = known.keys().next()
  if (known.size > MAX_KNOWN && !oldest.done) known.delete(oldest.value)
  return derived
}

function derive(seeds: readonly Uint8Array[]): { address: string; bump: number } {
  const program = bs58.decode(ASSOCIATED_TOKEN_PROGRAM)
  for (let bump = 255; bump >= 0; bump--) {
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), program, MARKER))
    if (!isOnCurve(hash)) return { address: bs58.encode(hash), bump }
  }
  throw new RangeError('No address can be derived from these seeds.')
}

/**
 * As lenient as the cluster's own check: bytes that decompress to a point are a key, in any
 * encoding.
 */
function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}

/** Where a wallet's tokens of a mint can be: the associated account of either token program. */
export function holdersOf(owner: string, mint: string): string[] {
  return TOKEN_PROGRAMS.map((program) => associatedTokenAccount({ owner, mint, program }).address)
}

/** An account as a node tells of it. */
type ReportedAccount = { owner: string; data: readonly [string, 'base64'] }

/** What an account holds of a wallet's tokens of a mint: nothing where it is none of the wallet's. */
export function tokensIn(
  account: ReportedAccount | null | undefined,
  wallet: string,
  mint: string,
): bigint {
  if (!account) return 0n
  const data = Uint8Array.from(atob(account.data[0]), (char) => char.charCodeAt(0))
  const token = readTokenAccount({ owner: account.owner, data })
  return token && token.owner === wallet && token.mint === mint ? token.amountAtomic : 0n
}
