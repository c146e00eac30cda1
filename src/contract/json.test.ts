import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng, type SeededRng } from '#testing/chaos/rng.ts'
import { readPlainly, writePlainly } from '#testing/plain-json.ts'
import type { DecodeProblem } from './reasons.ts'
import {
  JsonError,
  LosslessNumber,
  MAX_JSON_DEPTH,
  parseJson,
  parsePayment,
  stringifyJson,
} from './json.ts'

const SEED = 20_261_127

const SPACES = ['', '', '', ' ', '\n', '\r\t']
const SCALARS = ['null', 'true', 'false', '0', '-0', '-12', '0.10', '1e5', '1E+2']
const LONG = ['123456789012345', '1234567890123456', '-1234567890123456', '"thirteen char"']
const STRINGS = [
  '""',
  '"a"',
  '"twelve chars"',
  '"é😀"',
  '"toJSON"',
  '"\\u0061"',
  '"\\"\\\\"',
  '"a\\n"',
]
const NAMES = ['"a"', '"b"', '"c"', '"a long name of a field"', '""', '"toJSON"', '"\\u0062"']
const RARE = ['"__proto__"', '"constructor"', '"a"']
const BROKEN = [
  '',
  ',',
  ':',
  '"',
  '{',
  '}',
  '[',
  ']',
  '\\',
  '\\u00',
  '-',
  '.',
  'e',
  '\0',
  '\n',
  '\ud800',
  'nul',
  '1',
  ' ',
]
const PIECES = [...SCALARS, ...LONG, ...STRINGS, ...BROKEN, '"a":', '[[', ']]']

function randomJson(rng: SeededRng, depth: number): string {
  const [before, after] = [rng.pick(SPACES), rng.pick(SPACES)]
  const items = () =>
    Array.from({ length: depth > 5 ? 0 : rng.int(0, 4) }, () => randomJson(rng, depth + 1))
  const name = () => before + rng.pick(rng.next() < 0.01 ? RARE : NAMES) + after
  const here = [
    () => rng.pick(SCALARS),
    () => rng.pick([...LONG, ...STRINGS]),
    () => `[${items().join()}]`,
    () =>
      `{${items()
        .map((item) => `${name()}:${item}`)
        .join()}}`,
  ]
  return before + rng.pick(here)() + after
}

/** JSON, some of it too deep; the same with one place broken; and pieces in any order. */
function randomText(rng: SeededRng): string {
  const kind = rng.int(0, 3)
  if (kind === 0) return Array.from({ length: rng.int(0, 12) }, () => rng.pick(PIECES)).join('')
  const text = randomJson(rng, 0)
  if (kind === 1) {
    const at = rng.int(0, text.length)
    return text.slice(0, at) + rng.pick(BROKEN) + text.slice(at + rng.int(0, 2))
  }
  const levels = rng.next() < 0.05 ? rng.pick([12, 16, 17, 60, 64, 65]) : 0
  return '['.repeat(levels) + text + ']'.repeat(levels)
}

/** The value, or why there is none. Numbers that keep their digits differ from others in it. */
function outcomeOf(read: () => unknown): { value: unknown } | { problem: DecodeProblem } {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof JsonError) return { problem: error.problem }
    throw error
  }
}

/** The value with some of what only a program can put into it. */
function withObjects(rng: SeededRng, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withObjects(rng, item))
  if (typeof value === 'object' && value !== null && !(value instanceof LosslessNumber))
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, withObjects(rng, inner)]),
    )
  const others = [10n ** 20n, new Date(0), Number.NaN, () => 1, { toJSON: () => 7n }, { toJSON: 1 }]
  if (rng.next() < 0.9) return value
  return rng.next() < 0.1 ? undefined : rng.pick(others)
}

describe('parseJson', () => {
  test('reads what JSON.parse reads, for every JSON value', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        let value: unknown
        try {
          value = parseJson(text)
        } catch (error) {
          // Only the rules beyond JSON itself may refuse a well-formed text.
          expect((error as JsonError).message).toMatch(/^json_(too_deep|forbidden_key)$/)
          return
        }
        expect(JSON.parse(stringifyJson(value))).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test('keeps the digits of a number that a double would change', () => {
    for (const digits of [
      '0.1',
      '1e-3',
      '0.123456789012345678',
      '12345678901234567890',
      '1E+2',
      '-0',
      '1.0',
      '100000000000000000000000',
    ]) {
      const value = parseJson(`{"amount":${digits}}`) as { amount: unknown }
      expect(value.amount).toBeInstanceOf(LosslessNumber)
      expect(String(value.amount)).toBe(digits)
      expect(stringifyJson(value)).toBe(`{"amount":${digits}}`)
    }
  })

  test('gives an integer that a double holds exactly as a number', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
        (value) => parseJson(String(value)) === value,
      ),
    )
  })

  test('refuses more than 16 levels, however many there are', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(parseJson(nested(MAX_JSON_DEPTH))).toBeInstanceOf(Array)
    for (const levels of [MAX_JSON_DEPTH + 1, 1000, 1_000_000])
      expect(() => parseJson(nested(levels))).toThrow('json_too_deep')
    expect(() => parseJson('{"a":'.repeat(100_000))).toThrow(JsonError)
  })

  test('does not count brackets inside strings as levels', () => {
    expect(parseJson(`"${'[{'.repeat(100)}"`)).toBe('[{'.repeat(100))
    expect(parseJson(String.raw`{"a\"[[[[[[[[[[[[[[[[[[":"\\"}`)).toEqual({
      'a"[[[[[[[[[[[[[[[[[[': '\\',
    })
  })

  test.each([
    '{"a":1,"a":2}',
    // The same value twice is a duplicate too: two readers may differ on which of them counts.
    '{"a":1,"a":1}',
    '{"a":1, "b":2, "a" : 1}',
    '{"a":{},"a":{}}',
    '[{"b":{"c":1,"c":1}}]',
    String.raw`{"a":1,"\u0061":1}`,
    '{"":1,"":1}',
  ])('refuses a key that stands twice: %s', (text) => {
    expect(() => parseJson(text)).toThrow('json_duplicate_key')
  })

  test('allows the same key in different objects, and as a value', () => {
    expect(parseJson('{"a":{"a":[{"a":"a"},{"a":"a"}]},"b":"a"}')).toEqual({
      a: { a: [{ a: 'a' }, { a: 'a' }] },
      b: 'a',
    })
  })

  test.each([
    '{"__proto__":{"admin":true}}',
    '{"a":[{"constructor":1}]}',
    '{"prototype":null}',
    String.raw`{"\u005f_proto__":{"admin":true}}`,
    '{"__proto__" \n:1}',
  ])('refuses a key that could reach a prototype: %s', (text) => {
    expect(() => parseJson(text)).toThrow('json_forbidden_key')
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  test.each([
    '',
    ' ',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '[1,]',
    "{'a':1}",
    '01',
    '+1',
    '.5',
    '5.',
    'NaN',
    'Infinity',
    'undefined',
    '1 2',
    '"\n"',
    String.raw`"\x41"`,
    '\ufeff1',
    '// 1',
    '"',
    '{"a":1',
    '}',
    ']',
    '{"a":1}}',
  ])('refuses what is not JSON: %j', (text) => {
    expect(() => parseJson(text)).toThrow(JsonError)
  })

  test('refuses every control character inside a string', () => {
    for (let code = 0; code < 0x20; code++)
      for (const text of [
        `"${String.fromCharCode(code)}"`,
        `"a longer text${String.fromCharCode(code)}"`,
      ])
        expect(() => parseJson(text), text).toThrow('json_malformed')
    expect(parseJson('" \u007f"')).toBe(' \u007f')
  })

  test('throws nothing but JsonError, whatever it is given', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"',
        ':',
        ',',
        '\\',
        'a',
        '1',
        '-',
        '.',
        'e',
        ' ',
        '\\u00',
        'null',
        'true',
        '__proto__',
        '\0',
        'é',
        '\ud800',
      ),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('')
        let expected: unknown
        let isJson = true
        try {
          expected = JSON.parse(text)
        } catch {
          isJson = false
        }
        try {
          const value = parseJson(text)
          expect(isJson).toBe(true)
          expect(JSON.parse(stringifyJson(value))).toEqual(expected)
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError)
        }
      }),
      { numRuns: 8_000 },
    )
  })
})

describe('stringifyJson', () => {
  test('writes bigint and LosslessNumber as digits, without adding an exponent', () => {
    expect(stringifyJson({ a: 10n ** 30n, b: new LosslessNumber('0.10'), c: [1, null, 'x'] })).toBe(
      `{"a":1${'0'.repeat(30)},"b":0.10,"c":[1,null,"x"]}`,
    )
  })

  test('is not fooled by an object that looks like a LosslessNumber', () => {
    for (const text of [
      '{"isLosslessNumber":true,"value":"1"}',
      '{"isLosslessNumber":true,"toString":"x"}',
      '{"toJSON":"x"}',
    ])
      expect(stringifyJson(parseJson(text))).toBe(text)
  })

  test('refuses a value without a JSON form', () => {
    expect(() => stringifyJson(undefined)).toThrow(TypeError)
  })
})

describe('LosslessNumber', () => {
  test('is never computed with as a double', () => {
    const amount = new LosslessNumber('0.1')
    expect(() => Number(amount)).toThrow('0.1 is read by its digits')
    expect(() => Number(amount) * 3).toThrow('0.1 is read by its digits')
    expect(`${amount.toString()} ETH`).toBe('0.1 ETH')
  })

  test.each(['', '1.', '.5', '01', '+1', '1e', '0x10', 'NaN', ' 1', '1\n'])(
    'refuses %o, which is no number of JSON',
    (text) => {
      expect(() => new LosslessNumber(text)).toThrow('not a number of JSON')
    },
  )
})

describe('beside the same rules in their plainest form', () => {
  const readers = [
    [parseJson, { maxLevels: 16, omitsForbidden: false }],
    [parsePayment, { maxLevels: 64, omitsForbidden: true }],
  ] as const

  test('40,000 seeded texts, broken ones too, are read alike', () => {
    const rng = createRng(SEED)
    const seen = new Map<string, number>()
    for (let round = 0; round < 20_000; round++) {
      const text = randomText(rng)
      for (const [read, rules] of readers) {
        const found = outcomeOf(() => read(text))
        const expected = outcomeOf(() => readPlainly(text, rules))
        // By text: `toEqual` would take longer than all else here.
        if (JSON.stringify(found) !== JSON.stringify(expected))
          expect({ text, ...found }).toEqual({ text, ...expected })
        const name = 'problem' in found ? found.problem.code : 'value'
        seen.set(name, (seen.get(name) ?? 0) + 1)
      }
    }
    for (const name of ['value', 'malformed', 'too_deep', 'duplicate_key', 'forbidden_key'])
      expect([name, seen.get(name === 'value' ? name : `json_${name}`)]).toEqual([
        name,
        expect.toSatisfy((count: number) => count > 80),
      ])
  })

  test('20,000 seeded values are written alike, with what only a program can put into them', () => {
    const rng = createRng(SEED)
    for (let round = 0; round < 20_000; round++) {
      const read = outcomeOf(() => parsePayment(randomJson(rng, 0)))
      const value = withObjects(rng, 'value' in read ? read.value : read.problem)
      const expected = writePlainly(value)
      if (expected !== undefined) expect(stringifyJson(value)).toBe(expected)
      else expect(() => stringifyJson(value)).toThrow(TypeError)
    }
  })
})
