import { LosslessNumber, parse, stringify } from 'lossless-json'

/**
 * JSON in which a number keeps its digits.
 *
 * An integer that a double holds exactly arrives as a `number`; every other number arrives as a
 * `LosslessNumber`, whose `value` is the source text. Money therefore never passes through a double.
 */

export { LosslessNumber }

export const MAX_JSON_DEPTH = 16
export const MAX_JSON_BYTES = 64 * 1024

const PLAIN_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

/** Whether a name could reach a prototype: no foreign object may carry it. */
export function isForbiddenKey(name: string): boolean {
  return FORBIDDEN_KEYS.has(name)
}

export class JsonError extends Error {
  override name = 'JsonProblem'
}

/**
 * Parses foreign JSON text: at most 16 levels deep, no key twice in one object, no key that could reach a prototype.
 * @throws JsonProblem with a sentence for the sender
 */
export function parseJson(text: string): unknown {
  refuseStructure(text)
  try {
    return parse(text, undefined, (digits) =>
      PLAIN_INTEGER.test(digits) ? Number(digits) : new LosslessNumber(digits),
    )
  } catch (error) {
    throw new JsonError('Expected well-formed JSON.', { cause: error })
  }
}

/** Whether a text in the value, or the name of a field, holds a NUL character. Postgres stores none. */
export function containsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return false
  return Object.entries(value).some(([name, inner]) => name.includes('\0') || containsNul(inner))
}

/** Writes JSON; a `LosslessNumber` and a `bigint` come out as their digits. */
export function stringifyJson(value: unknown): string {
  const text = stringify(value)
  if (text === undefined) throw new TypeError('This value has no JSON form.')
  return text
}

/**
 * A scan before the parse, which overflows its stack on deep input and lets a key stand twice with the same value.
 * It takes malformed text as it comes: the parser names that.
 */
function refuseStructure(text: string): void {
  /** The keys seen in each open object; null for an open array. */
  const open: (Set<string> | null)[] = []
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (char === '{' || char === '[') {
      open.push(char === '{' ? new Set() : null)
      if (open.length > MAX_JSON_DEPTH)
        throw new JsonError(`Expected at most ${MAX_JSON_DEPTH} levels of nesting.`)
    } else if (char === '}' || char === ']') open.pop()
    else if (char === '"') {
      const end = endOfString(text, index)
      const keys = open.at(-1)
      if (keys && isKeyBefore(text, end)) refuseKey(keys, text.slice(index, end))
      index = end - 1
    }
  }
}

/** Where the string ends that begins at `start`, its closing quote included. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === '"') return index + 1
  }
  return text.length
}

function isKeyBefore(text: string, index: number): boolean {
  while (
    text[index] === ' ' ||
    text[index] === '\n' ||
    text[index] === '\r' ||
    text[index] === '\t'
  )
    index++
  return text[index] === ':'
}

function refuseKey(keys: Set<string>, token: string): void {
  const key = readString(token)
  if (key === undefined) return
  if (isForbiddenKey(key)) throw new JsonError(`The key "${key}" is not allowed.`)
  if (keys.has(key))
    throw new JsonError(`The key ${JSON.stringify(key.slice(0, 60))} stands twice in one object.`)
  keys.add(key)
}

/** The text of a string token, its escapes read: `"\u0061"` is the key `a`. */
function readString(token: string): string | undefined {
  try {
    const value = parse(token)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
