import bs58 from 'bs58'
import { TOKEN_PROGRAMS } from './programs.ts'

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
