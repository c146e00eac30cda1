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
const KEYWORDS = { true: true, false: false, null: null } as const
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
    const char = this.#text[this.#at]
    if (char === '"') return this.#string()
    if (char === '{' || char === '[') {
      const { maxLevels } = this.#rules
      if (depth === maxLevels) throw new JsonError({ code: 'json_too_deep', params: { maxLevels } })
      this.#at++
      return char === '{' ? this.#object(depth + 1) : this.#array(depth + 1)
    }
    for (const [word, value] of Object.entries(KEYWORDS))
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length
        return value
      }
    return this.#number()
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.#skipSpace()
    if (this.#eat('}')) return object
    do {
      this.#skipSpace()
      if (this.#text[this.#at] !== '"') throw malformed()
      const key = this.#string()
      const forbidden = isForbiddenKey(key)
      if (forbidden && !this.#rules.omitsForbidden)
        throw new JsonError({ code: 'json_forbidden_key', params: { key } })
      if (Object.hasOwn(object, key))
        throw new JsonError({ code: 'json_duplicate_key', params: { key: key.slice(0, 60) } })
      this.#skipSpace()
      if (!this.#eat(':')) throw malformed()
      const value = this.#value(depth)
      if (!forbidden) object[key] = value
    } while (this.#eat(','))
    if (!this.#eat('}')) throw malformed()
    return object
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = []
    this.#skipSpace()
    if (this.#eat(']')) return array
    do array.push(this.#value(depth))
    while (this.#eat(','))
    if (!this.#eat(']')) throw malformed()
    return array
  }

  /** `JSON.parse` reads the token: it decodes the escapes and refuses control characters. */
  #string(): string {
    const start = this.#at
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]
      if (char === '\\') this.#at++
      else if (char === '"') break
    }
    this.#at++
    try {
      return String(JSON.parse(this.#text.slice(start, this.#at)))
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

  #eat(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
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
  const text = write(value)
  if (text === undefined) throw new TypeError('This value has no JSON form.')
  return text
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
