import { isForbiddenKey, JsonError, LosslessNumber } from '#contract/json.ts'

/**
 * The rules of `#contract/json.ts`, spelled out in the plainest way, for a comparison: one character
 * at a time, each string by `JSON.parse`, each value by the same steps.
 */

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const PLAIN_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/
const KEYWORDS = { true: true, false: false, null: null } as const

/** @throws JsonError */
export function readPlainly(text: string, rules: Rules): unknown {
  return new PlainReader(text, rules).readAll()
}

export type Rules = { maxLevels: number; omitsForbidden: boolean }

class PlainReader {
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

/** Undefined for what JSON leaves out: undefined, functions and symbols. */
export function writePlainly(value: unknown): string | undefined {
  if (value instanceof LosslessNumber) return value.value
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value))
    return `[${Array.from(value, (item) => writePlainly(item) ?? 'null').join()}]`
  const toJSON: unknown = Reflect.get(value, 'toJSON')
  if (typeof toJSON === 'function') return writePlainly(toJSON.call(value))
  let fields = ''
  for (const [name, inner] of Object.entries(value)) {
    const text = writePlainly(inner)
    if (text !== undefined) fields += `${fields && ','}${JSON.stringify(name)}:${text}`
  }
  return `{${fields}}`
}
