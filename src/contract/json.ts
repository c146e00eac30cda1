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

export class JsonProblem extends Error {
  override name = 'JsonProblem'
}

/**
 * Parses foreign JSON text: at most 16 levels deep, no key twice in one object, no key that could reach a prototype.
 * @throws JsonProblem with a sentence for the sender
 */
export function parseJson(text: string): unknown {
  refuseDepth(text)
  let value: unknown
  try {
    value = parse(text, refuseKeys, {
      parseNumber: (digits) => (PLAIN_INTEGER.test(digits) ? Number(digits) : new LosslessNumber(digits)),
      onDuplicateKey: ({ key }) => {
        throw new JsonProblem(`The key "${key}" stands twice in one object.`)
      },
    })
  } catch (error) {
    if (error instanceof JsonProblem) throw error
    throw new JsonProblem('Expected well-formed JSON.', { cause: error })
  }
  return value
}

/** Writes JSON; a `LosslessNumber` and a `bigint` come out as their digits. */
export function stringifyJson(value: unknown): string {
  const text = stringify(value)
  if (text === undefined) throw new TypeError('This value has no JSON form.')
  return text
}

function refuseKeys(key: string, value: unknown): unknown {
  if (FORBIDDEN_KEYS.has(key)) throw new JsonProblem(`The key "${key}" is not allowed.`)
  return value
}

/** A scan before the parse: a recursive parser overflows its stack on deep input. */
function refuseDepth(text: string): void {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (inString) {
      if (char === '\\') index++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') {
      if (++depth > MAX_JSON_DEPTH) throw new JsonProblem(`Expected at most ${MAX_JSON_DEPTH} levels of nesting.`)
    } else if (char === '}' || char === ']') depth--
  }
}
