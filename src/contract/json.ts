import type { DecodeProblem } from './reasons.ts'

/**
 * JSON in which a number keeps its digits.
 *
 * An integer that a double holds exactly arrives as a `number`; every other number arrives as a
 * `LosslessNumber`, whose `value` is the source text. Money therefore never passes through a double.
 */

export const MAX_JSON_DEPTH = 16
/** In a payment: it carries what its seller announced, such as the JSON schema of the response. */
const MAX_PAYMENT_DEPTH = 64
export const MAX_JSON_BYTES = 64 * 1024

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const WHOLE_NUMBER = new RegExp(`^${NUMBER.source}$`)
const PLAIN_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

/** Whether a name could reach a prototype: no foreign object may carry it. */
export function isForbiddenKey(name: string): boolean {
  return FORBIDDEN_KEYS.has(name)
}

export class JsonError extends Error {
  override name = 'JsonError'
  readonly problem: DecodeProblem

  constructor(problem: DecodeProblem, options?: ErrorOptions) {
    super(problem.code, options)
    this.problem = problem
  }
}

/** A number as its digits. It is never a double: code that computes with it reads `value`. */
export class LosslessNumber {
  readonly value: string

  /** @throws TypeError when `value` is not a number of JSON */
  constructor(value: string) {
    if (!WHOLE_NUMBER.test(value)) throw new TypeError(`"${value}" is not a number of JSON.`)
    this.value = value
  }

  toString(): string {
    return this.value
  }

  valueOf(): never {
    throw new TypeError(`${this.value} is read by its digits, not as a double.`)
  }
}

/**
 * Parses foreign JSON text (RFC 8259): at most 16 levels deep, no key twice in one object, no key that could reach a prototype.
 * @throws JsonError
 */
export function parseJson(text: string): unknown {
  return new JsonReader(text, { maxLevels: MAX_JSON_DEPTH, omitsForbidden: false }).readAll()
}

/**
 * Parses a payment of x402. Its payer repeats the seller's extensions in it, which nothing here reads: they may be nested deeper, and a key that
 * could reach a prototype is left out with its value.
 * @throws JsonError
 */
export function parsePayment(text: string): unknown {
  return new JsonReader(text, { maxLevels: MAX_PAYMENT_DEPTH, omitsForbidden: true }).readAll()
}

type Rules = { maxLevels: number; omitsForbidden: boolean }

/** UTF-16 codes of the characters that structure a text. Comparing codes makes no string of each character. */
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const FIRST_PRINTABLE = 0x20
/** V8 copies a part of this length; a longer one would keep the whole text in memory for as long as it is used. */
const MOST_COPIED = 12

/** Reads a text once, from its start to its end. */
class JsonReader {
  readonly #text: string
  readonly #rules: Rules
  #at = 0

  constructor(text: string, rules: Rules) {
    this.#text = text
    this.#rules = rules
  }

  readAll(): unknown {
    const value = this.#value(0)
    if (this.#at < this.#text.length) throw malformed()
    return value
  }

  /** A value with the space around it. `depth`: how many objects and arrays are open. */
  #value(depth: number): unknown {
    this.#skipSpace()
    const value = this.#valueHere(depth)
    this.#skipSpace()
    return value
  }

  #valueHere(depth: number): unknown {
    switch (this.#text.charCodeAt(this.#at)) {
      case QUOTE:
        return this.#string()
      case OPEN_BRACE:
        this.#open(depth)
        return this.#object(depth + 1)
      case OPEN_BRACKET:
        this.#open(depth)
        return this.#array(depth + 1)
      default:
        if (this.#eatWord('true')) return true
        if (this.#eatWord('false')) return false
        if (this.#eatWord('null')) return null
        return this.#number()
    }
  }

  #open(depth: number): void {
    const { maxLevels } = this.#rules
    if (depth === maxLevels) throw new JsonError({ code: 'json_too_deep', params: { maxLevels } })
    this.#at++
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.#skipSpace()
    if (this.#eat(CLOSE_BRACE)) return object
    do {
      this.#skipSpace()
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw malformed()
      const key = this.#string()
      const forbidden = isForbiddenKey(key)
      if (forbidden && !this.#rules.omitsForbidden)
        throw new JsonError({ code: 'json_forbidden_key', params: { key } })
      if (Object.hasOwn(object, key))
        throw new JsonError({ code: 'json_duplicate_key', params: { key: key.slice(0, 60) } })
      this.#skipSpace()
      if (!this.#eat(COLON)) throw malformed()
      const value = this.#value(depth)
      if (!forbidden) object[key] = value
    } while (this.#eat(COMMA))
    if (!this.#eat(CLOSE_BRACE)) throw malformed()
    return object
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = []
    this.#skipSpace()
    if (this.#eat(CLOSE_BRACKET)) return array
    do array.push(this.#value(depth))
    while (this.#eat(COMMA))
    if (!this.#eat(CLOSE_BRACKET)) throw malformed()
    return array
  }

  /** Short plain text is a part of the source. `JSON.parse` reads all else: it decodes escapes and refuses control characters. */
  #string(): string {
    const text = this.#text
    const start = this.#at + 1
    let end = start
    let code = text.charCodeAt(end)
    while (code !== QUOTE && code !== BACKSLASH && code >= FIRST_PRINTABLE)
      code = text.charCodeAt(++end)
    if (code === QUOTE && end - start <= MOST_COPIED) {
      this.#at = end + 1
      return text.slice(start, end)
    }
    while (code !== QUOTE && end < text.length) {
      end += code === BACKSLASH ? 2 : 1
      code = text.charCodeAt(end)
    }
    this.#at = end + 1
    try {
      return String(JSON.parse(text.slice(start - 1, this.#at)))
    } catch (error) {
      throw malformed(error)
    }
  }

  #number(): number | LosslessNumber {
    NUMBER.lastIndex = this.#at
    const digits = NUMBER.exec(this.#text)?.[0]
    if (digits === undefined) throw malformed()
    this.#at += digits.length
    return PLAIN_INTEGER.test(digits) ? Number(digits) : new LosslessNumber(digits)
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++
  }

  #eat(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false
    this.#at++
    return true
  }

  #eatWord(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function malformed(cause?: unknown): JsonError {
  return new JsonError({ code: 'json_malformed', params: {} }, { cause })
}

/** Whether a text in the value, or the name of a field, holds a NUL character. Postgres stores none. */
export function containsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return false
  return Object.entries(value).some(([name, inner]) => name.includes('\0') || containsNul(inner))
}

/** Writes JSON; a `LosslessNumber` and a `bigint` come out as their digits. */
export function stringifyJson(value: unknown): string {
  // The platform's own writer is several times as fast.
  const text = isPlain(value) ? JSON.stringify(value) : write(value)
  if (text === undefined) throw new TypeError('This value has no JSON form.')
  return text
}

/** Whether it holds no number that is written as digits, and no object that writes itself. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint'
  if (Array.isArray(value)) return value.every(isPlain)
  if (value instanceof LosslessNumber || 'toJSON' in value) return false
  return Object.values(value).every(isPlain)
}

/** Undefined for what JSON leaves out: undefined, functions and symbols. */
function write(value: unknown): string | undefined {
  if (value instanceof LosslessNumber) return value.value
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${Array.from(value, (item) => write(item) ?? 'null').join()}]`
  const toJSON: unknown = Reflect.get(value, 'toJSON')
  if (typeof toJSON === 'function') return write(toJSON.call(value))
  let fields = ''
  for (const [name, inner] of Object.entries(value)) {
    const text = write(inner)
    if (text !== undefined) fields += `${fields && ','}${JSON.stringify(name)}:${text}`
  }
  return `{${fields}}`
}
