import { fact } from '#contract/facts.ts'
import type { DecodeProblem } from '#contract/reasons.ts'

/**
 * The wire format of a Solana transaction: signatures, then a legacy or v0 message, or a message of
 * version 1, then signatures. Reading and writing are inverses. A transaction without a canonical
 * encoding, or with accounts that are not in the bytes (lookup tables), is refused.
 * @see https://solana.com/docs/core/transactions
 * @see https://github.com/solana-foundation/solana-improvement-documents/blob/main/proposals/0385-transaction-v1.md
 */

export type WireInstruction = { program: number; accounts: readonly number[]; data: Uint8Array }

/** What a message of version 1 asks for in its head, in the order of the bytes; null where it does not. `priorityFee`: lamports in total. */
export type WireConfig = {
  priorityFee: bigint | null
  computeUnitLimit: bigint | null
  loadedAccountsDataSizeLimit: bigint | null
  heapSize: bigint | null
}

/** Each field's bits of the mask; every bit stands for four bytes. */
const CONFIG_BITS = {
  priorityFee: 0b11,
  computeUnitLimit: 0b100,
  loadedAccountsDataSizeLimit: 0b1000,
  heapSize: 0b1_0000,
} as const satisfies Record<keyof WireConfig, number>
const KNOWN_CONFIG_BITS = 0b1_1111

export type WireMessage = {
  version: 'legacy' | 0 | 1
  requiredSignatures: number
  readonlySigned: number
  readonlyUnsigned: number
  /** 32 bytes each: writable signers, readonly signers, writable others, readonly others. */
  keys: readonly Uint8Array[]
  blockhash: Uint8Array
  instructions: readonly WireInstruction[]
  /** Only of version 1. */
  config?: WireConfig
}

export type WireTransaction = { signatures: readonly Uint8Array[]; message: WireMessage }

/** The size of one packet; no node accepts more. */
export const MAX_WIRE_BYTES = 1232
const MAX_VERSION_1_BYTES = 4096
const VERSION_1 = 0x81

/** What a node is asked for: it refuses to show a transaction of a newer version. */
export const NEWEST_VERSION = 1

export class WireError extends Error {
  override name = 'WireError'
  readonly problem: DecodeProblem

  constructor(problem: DecodeProblem) {
    super(problem.code)
    this.problem = problem
  }
}

/**
 * @param landed whether the cluster has executed it. Nobody is asked to sign version 1: it is read
 * only there
 * @throws WireError
 */
export function readTransaction(bytes: Uint8Array, { landed = false } = {}): WireTransaction {
  const [first = 0] = bytes
  // No count of signatures begins like this: 128 of them are more than any packet holds.
  const isVersion1 = first === VERSION_1
  if (isVersion1 && !landed) throw unknownVersion(first)
  const maxBytes = isVersion1 ? MAX_VERSION_1_BYTES : MAX_WIRE_BYTES
  if (bytes.length > maxBytes) throw new WireError({ code: 'too_large', params: { maxBytes } })
  const reader = new Reader(bytes)
  const transaction = isVersion1 ? readVersion1(reader) : readSignaturesFirst(reader)
  if (reader.left > 0)
    throw new WireError({ code: 'trailing_bytes', params: { count: reader.left } })
  const { signatures, message } = transaction
  if (signatures.length !== message.requiredSignatures)
    throw new WireError({
      code: 'signature_count',
      params: { required: message.requiredSignatures, present: signatures.length },
    })
  return transaction
}

function unknownVersion(first: number): WireError {
  return new WireError({ code: 'unknown_version', params: { version: first - 0x80 } })
}

function readSignaturesFirst(reader: Reader): WireTransaction {
  const signatures = reader.list(() => reader.take(64))
  return { signatures, message: readMessage(reader) }
}

function readVersion1(reader: Reader): WireTransaction {
  reader.byte()
  const header = {
    requiredSignatures: reader.byte(),
    readonlySigned: reader.byte(),
    readonlyUnsigned: reader.byte(),
  }
  const mask = Number(reader.number(4))
  const blockhash = reader.take(32)
  const instructionCount = reader.byte()
  const keys = times(reader.byte(), () => reader.take(32))
  const config = readConfig(reader, mask)
  const heads = times(instructionCount, () => ({
    program: reader.byte(),
    accountCount: reader.byte(),
    dataLength: Number(reader.number(2)),
  }))
  const instructions = heads.map(({ program, accountCount, dataLength }) => ({
    program,
    accounts: [...reader.take(accountCount)],
    data: reader.take(dataLength),
  }))
  const message = { version: 1, ...header, keys, blockhash, instructions, config } as const
  refuseDisorder(message)
  return { signatures: times(header.requiredSignatures, () => reader.take(64)), message }
}

function readConfig(reader: Reader, mask: number): WireConfig {
  const value = (bits: number) => {
    if ((mask & bits) === 0) return null
    if ((mask & bits) !== bits) throw new WireError(fact('not_canonical'))
    return reader.number(bits === CONFIG_BITS.priorityFee ? 8 : 4)
  }
  if ((mask & ~KNOWN_CONFIG_BITS) !== 0) throw new WireError(fact('not_canonical'))
  // The values stand in the order of these fields.
  return {
    priorityFee: value(CONFIG_BITS.priorityFee),
    computeUnitLimit: value(CONFIG_BITS.computeUnitLimit),
    loadedAccountsDataSizeLimit: value(CONFIG_BITS.loadedAccountsDataSizeLimit),
    heapSize: value(CONFIG_BITS.heapSize),
  }
}

function times<T>(count: number, read: () => T): T[] {
  return Array.from({ length: count }, read)
}

function readMessage(reader: Reader): WireMessage {
  const first = reader.byte()
  const version = first < 0x80 ? 'legacy' : 0
  if (first > 0x80) throw unknownVersion(first)
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
  if (message.version === 1)
    return Uint8Array.from([
      ...writeMessage(message),
      ...signatures.flatMap((signature) => [...signature]),
    ])
  return Uint8Array.from([
    ...compactLength(signatures.length),
    ...signatures.flatMap((signature) => [...signature]),
    ...writeMessage(message),
  ])
}

/** The bytes that signers sign. */
export function writeMessage(message: WireMessage): Uint8Array {
  if (message.version === 1) return writeVersion1(message)
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

function writeVersion1(message: WireMessage): Uint8Array {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = message
  const { keys, blockhash, instructions, config } = message
  const values = [
    { value: config?.priorityFee, bits: CONFIG_BITS.priorityFee, bytes: 8 },
    { value: config?.computeUnitLimit, bits: CONFIG_BITS.computeUnitLimit, bytes: 4 },
    {
      value: config?.loadedAccountsDataSizeLimit,
      bits: CONFIG_BITS.loadedAccountsDataSizeLimit,
      bytes: 4,
    },
    { value: config?.heapSize, bits: CONFIG_BITS.heapSize, bytes: 4 },
  ].flatMap(({ value, ...field }) => (typeof value === 'bigint' ? [{ value, ...field }] : []))
  const mask = values.reduce((sum, { bits }) => sum | bits, 0)
  return Uint8Array.from([
    VERSION_1,
    requiredSignatures,
    readonlySigned,
    readonlyUnsigned,
    ...littleEndian(BigInt(mask), 4),
    ...blockhash,
    instructions.length,
    keys.length,
    ...keys.flatMap((key) => [...key]),
    ...values.flatMap(({ value, bytes }) => littleEndian(value, bytes)),
    ...instructions.flatMap(({ program, accounts, data }) => [
      program,
      accounts.length,
      ...littleEndian(BigInt(data.length), 2),
    ]),
    ...instructions.flatMap(({ accounts, data }) => [...accounts, ...data]),
  ])
}

function littleEndian(value: bigint, length: number): number[] {
  return Array.from({ length }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn))
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

  /** Lowest byte first. */
  number(length: number): bigint {
    return this.take(length).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
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
