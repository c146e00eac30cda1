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
  override name = 'WireProblem'
}

/** @throws WireProblem with a sentence for the user */
export function readTransaction(bytes: Uint8Array): WireTransaction {
  if (bytes.length > MAX_WIRE_BYTES)
    throw new WireError(`The transaction is larger than ${MAX_WIRE_BYTES} bytes.`)
  const reader = new Reader(bytes)
  const signatures = reader.list(() => reader.take(64))
  const message = readMessage(reader)
  if (reader.left > 0) throw new WireError(`${reader.left} bytes follow the transaction.`)
  if (signatures.length !== message.requiredSignatures)
    throw new WireError(
      `The message asks for ${message.requiredSignatures} signatures and ${signatures.length} are there.`,
    )
  return { signatures, message }
}

function readMessage(reader: Reader): WireMessage {
  const first = reader.byte()
  const version = first < 0x80 ? 'legacy' : 0
  if (first > 0x80)
    throw new WireError(
      `The message has the version ${first - 0x80}, which this program does not know.`,
    )
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
  if (version === 0 && reader.byte() !== 0)
    throw new WireError('The transaction takes accounts from a lookup table.')
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
  if (readonlySigned >= requiredSignatures)
    throw new WireError('Nobody can pay the fee: the first signer is not writable.')
  if (requiredSignatures + readonlyUnsigned > keys.length)
    throw new WireError('The header counts more accounts than there are.')
  if (new Set(keys.map(String)).size !== keys.length)
    throw new WireError('An account is listed twice.')
  for (const { program, accounts } of instructions) {
    if (program === 0) throw new WireError('The fee payer is called as a program.')
    if (program >= keys.length || accounts.some((index) => index >= keys.length))
      throw new WireError('An instruction names an account that is not listed.')
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
    if (count > this.left) throw new WireError('The transaction ends in the middle of a field.')
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
    if (high === 0) throw new WireError('A length is not spelled in its shortest form.')
    // A third byte would start above 16,383, more than any packet holds.
    if (high >= 0x80) throw new WireError('A length is larger than the transaction.')
    return (low & 0x7f) | (high << 7)
  }
}
