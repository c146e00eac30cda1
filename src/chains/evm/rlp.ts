import { fact } from '#contract/facts.ts'
import type { DecodeProblem } from '#contract/reasons.ts'

/** RLP of a flat or nested list, canonical spellings only: for every value there is one spelling, and all others are refused. */

export type RlpItem = Uint8Array | RlpItem[]

export class RlpError extends Error {
  override name = 'RlpError'
  readonly problem: DecodeProblem

  constructor(problem: DecodeProblem) {
    super(problem.code)
    this.problem = problem
  }
}

/** Transactions nest at most three deep (list, access list, entry, keys); deeper input is hostile. */
const MAX_DEPTH = 4

/**
 * Reads one item that fills the bytes exactly.
 * @throws RlpError
 */
export function readRlp(bytes: Uint8Array): RlpItem {
  const { item, end } = readItem(bytes, 0, 0)
  if (end !== bytes.length)
    throw new RlpError({ code: 'trailing_bytes', params: { count: bytes.length - end } })
  return item
}

function readItem(bytes: Uint8Array, at: number, depth: number): { item: RlpItem; end: number } {
  if (depth > MAX_DEPTH) throw new RlpError(fact('nested_too_deep'))
  const tag = bytes[at]
  if (tag === undefined) throw new RlpError(fact('cut_short'))
  if (tag < 0x80) return { item: bytes.slice(at, at + 1), end: at + 1 }
  const isList = tag >= 0xc0
  const { start, end } = readSpan(bytes, at, isList ? tag - 0xc0 : tag - 0x80)
  if (!isList) {
    const first = bytes[start]
    if (end - start === 1 && first !== undefined && first < 0x80)
      throw new RlpError(fact('value_not_shortest'))
    return { item: bytes.slice(start, end), end }
  }
  const list: RlpItem[] = []
  let next = start
  while (next < end) {
    const read = readItem(bytes.subarray(0, end), next, depth + 1)
    list.push(read.item)
    next = read.end
  }
  return { item: list, end }
}

/** `size` is the tag without its kind: up to 55 the length itself, above it the length of the length. */
function readSpan(bytes: Uint8Array, at: number, size: number): { start: number; end: number } {
  let start = at + 1
  let length = size
  if (size > 55) {
    const lengthBytes = bytes.subarray(start, start + size - 55)
    start += size - 55
    // Four bytes of length are far above any transaction; more would leave the exact integers of a double.
    if (lengthBytes.length !== size - 55 || lengthBytes.length > 4 || lengthBytes[0] === 0)
      throw new RlpError(fact('length_not_shortest'))
    length = lengthBytes.reduce((sum, byte) => sum * 256 + byte, 0)
    if (length <= 55) throw new RlpError(fact('length_not_shortest'))
  }
  const end = start + length
  if (end > bytes.length) throw new RlpError(fact('cut_short'))
  return { start, end }
}
