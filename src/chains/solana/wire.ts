import { fact } from '#contract/facts.ts'
import type { DecodeProblem } from '#contract/reasons.ts'

/**
 * The wire format of a Solana transaction: signatures, then a legacy or v0 message. Reading and
 * writing are inverses. A transaction without a canonical encoding, or with accounts that are not
 * in the bytes (lookup tables), is refused.
 * @see https://solana.com/docs/core/transactions
 */

export type WireInstruction = { program: number; accounts: readonly number[]; data: Uint8Array }

export type WireMessage = {
  version: 'legacy' | 0
  requiredSignatures: number
  readonlySigned: number
  readonlyUnsigned: number
  /** 32 bytes each: writable signers, readonly signers, writable others, readonly others. */
  keys: readonly Uint8Array[]
  blockhash: Uint8Array
  instructions: readonly WireInstruction[]
}

export type WireTransaction = { signatures: readonly Uint8Array[]; message: WireMessage }

/** The size of one packet; no node accepts more. */
export const MAX_WIRE_BYTES = 1232

export class WireError extends Error {
  override name = 'WireError'
  readonly problem: DecodeProblem

  constructor(problem: DecodeProblem) {
    super(problem.code)
    this.problem = problem
  }
}

/** @throws WireError */
export function readTransaction(bytes: Uint8Array): WireTransaction {
  if (bytes.length > MAX_WIRE_BYTES)
    throw new WireError({ code: 'too_large', params: { maxBytes: MAX_WIRE_BYTES } })
  const reader = new Reader(bytes)
  const signatures = reader.list(() => reader.take(64))
  const message = readMessage(reader)
  if (reader.left > 0)
    throw new WireError({ code: 'trailing_bytes', params: { count: reader.left } })
  if (signatures.length !== message.requiredSignatures)
    throw new WireError({
      code: 'signature_count',
      params: { required: message.requiredSignatures, present: signatures.length },
    })
  return { signatures, message }
}

function readMessage(reader: Reader): WireMessage {
  const first = reader.byte()
  const version = first < 0x80 ? 'legacy' : 0
  if (first > 0x80)
    throw new WireError({ code: 'unknown_version', params: { version: first - 0x80 } })
  const requiredSignatures = version === 'legacy' ? first : reader.byte()
  const message = {
    version,
    requiredSignatures,
    readonlySigned: reader.byte(),
    readonlyUnsigned: reader.byte(),
    keys: reader.list(() => reader.take(32)),
    blockhash: reader.take(32),
    instructions: reader.list(() => ({
      program: reader.byte(),
      accounts: [...reader.bytes()],
      data: reader.bytes(),
    })),
  } satisfies WireMessage
  if (version === 0 && reader.byte() !== 0) throw new WireError(fact('lookup_table'))
  refuseDisorder(message)
  return message
}

/** Rejects what the cluster itself refuses before it runs anything. */
function refuseDisorder({
  requiredSignatures,
  readonlySigned,
  readonlyUnsigned,
  keys,
  instructions,
}: WireMessage): void {
  if (readonlySigned >= requiredSignatures) throw new WireError(fact('no_writable_signer'))
  if (requiredSignatures + readonlyUnsigned > keys.length)
    throw new WireError(fact('too_few_accounts'))
  if (new Set(keys.map(String)).size !== keys.length) throw new WireError(fact('account_twice'))
  for (const { program, accounts } of instructions) {
    if (program === 0) throw new WireError(fact('fee_payer_called'))
    if (program >= keys.length || accounts.some((index) => index >= keys.length))
      throw new WireError(fact('account_not_listed'))
  }
}

export function writeTransaction({ signatures, message }: WireTransaction): Uint8Array {
  return Uint8Array.from([
    ...compactLength(signatures.length),
    ...signatures.flatMap((signature) => [...signature]),
    ...writeMessage(message),
  ])
}

/** The bytes that signers sign. */
export function writeMessage(message: WireMessage): Uint8Array {
  const {
    version,
    requiredSignatures,
    readonlySigned,
    readonlyUnsigned,
    keys,
    blockhash,
    instructions,
  } = message
  return Uint8Array.from([
    ...(version === 0 ? [0x80] : []),
    requiredSignatures,
    readonlySigned,
    readonlyUnsigned,
    ...compactLength(keys.length),
    ...keys.flatMap((key) => [...key]),
    ...blockhash,
    ...compactLength(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      program,
      ...compactLength(accounts.length),
      ...accounts,
      ...compactLength(data.length),
      ...data,
    ]),
    ...(version === 0 ? [0] : []),
  ])
}

/** Seven bits per byte, lowest first; no length in a packet needs more than two such bytes. */
function compactLength(length: number): number[] {
  return length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7]
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  take(count: number): Uint8Array {
    if (count > this.left) throw new WireError(fact('cut_short'))
    this.#at += count
    return this.#bytes.slice(this.#at - count, this.#at)
  }

  byte(): number {
    return this.take(1)[0] ?? 0
  }

  bytes(): Uint8Array {
    return this.take(this.#length())
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.#length() }, read)
  }

  #length(): number {
    const low = this.byte()
    if (low < 0x80) return low
    const high = this.byte()
    if (high === 0) throw new WireError(fact('length_not_shortest'))
    // A third byte would start above 16,383, more than any packet holds.
    if (high >= 0x80) throw new WireError(fact('length_too_large'))
    return (low & 0x7f) | (high << 7)
  }
}
