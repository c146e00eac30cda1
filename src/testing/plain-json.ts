import { isForbiddenKey, JsonError, LosslessNumber } from '#contract/json.ts'

/**
 * The rules of `#contract/json.ts` in another form, for a comparison: the text is cut into tokens by
 * a pattern, and the platform writes.
 */

/** One token with the space around it: punctuation, a string, a number or a word. */
const TOKEN =
  /[ \t\n\r]*([{}[\]:,]|"(?:[^"\\]|\\[^])*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)[ \t\n\r]*/y
const SHORT_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/

type Rules = { maxLevels: number; omitsForbidden: boolean }

/** @throws JsonError */
export function readPlainly(text: string, { maxLevels, omitsForbidden }: Rules): unknown {
  let at = 0
  const next = (): string => {
    TOKEN.lastIndex = at
    const [whole = '', token] = TOKEN.exec(text) ?? []
    if (token === undefined) throw malformed()
    at += whole.length
    return token
  }
  const expectToken = (...expected: string[]): string => {
    const token = next()
    if (!expected.includes(token)) throw malformed()
    return token
  }
  /** Whether the next token is this one, which is then taken. */
  const takes = (token: string): boolean => {
    const before = at
    TOKEN.lastIndex = at
    if (TOKEN.exec(text)?.[1] === token) next()
    return at > before
  }
  const read = (token: string, depth: number): unknown => {
    if (token.startsWith('"')) return decode(token)
    if (['true', 'false', 'null'].includes(token)) return JSON.parse(token)
    if (token !== '{' && token !== '[') return numberOf(token)
    if (depth === maxLevels) throw new JsonError({ code: 'json_too_deep', params: { maxLevels } })
    const items: unknown[] = []
    const fields = new Map<string, unknown>()
    const close = token === '{' ? '}' : ']'
    if (takes(close)) return token === '{' ? {} : []
    do {
      if (token === '[') {
        items.push(read(next(), depth + 1))
        continue
      }
      const name = nameOf(next())
      if (isForbiddenKey(name) && !omitsForbidden)
        throw new JsonError({ code: 'json_forbidden_key', params: { key: name } })
      if (fields.has(name) && !isForbiddenKey(name))
        throw new JsonError({ code: 'json_duplicate_key', params: { key: name.slice(0, 60) } })
      expectToken(':')
      fields.set(name, read(next(), depth + 1))
    } while (expectToken(',', close) === ',')
    return token === '['
      ? items
      : Object.fromEntries([...fields].filter(([name]) => !isForbiddenKey(name)))
  }
  const value = read(next(), 0)
  if (at < text.length) throw malformed()
  return value
}

/** The name of a field. A punctuation mark or a number is none. */
function nameOf(token: string): string {
  if (!token.startsWith('"')) throw malformed()
  return decode(token)
}

/** `JSON.parse` decodes the escapes and refuses control characters. */
function decode(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch (error) {
    throw malformed(error)
  }
}

function numberOf(token: string): number | LosslessNumber {
  if (!/^[-0-9]/.test(token)) throw malformed()
  return SHORT_INTEGER.test(token) ? Number(token) : new LosslessNumber(token)
}

function malformed(cause?: unknown): JsonError {
  return new JsonError({ code: 'json_malformed', params: {} }, { cause })
}

/** What the platform writes, with the digits of a `LosslessNumber` and of a `bigint`. Undefined for what JSON leaves out. */
export function writePlainly(value: unknown): string | undefined {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (inner instanceof LosslessNumber) return rawJson(inner.value)
    return typeof inner === 'bigint' ? rawJson(String(inner)) : inner
  })
}

/** `JSON.rawJSON`, which the compiler does not know yet. */
function rawJson(digits: string): unknown {
  const make: unknown = Reflect.get(JSON, 'rawJSON')
  if (typeof make !== 'function') throw new Error('Expected JSON.rawJSON of Node 22 or later.')
  return make(digits)
}
