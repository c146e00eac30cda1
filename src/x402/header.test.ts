import { expect, test } from 'vitest'
import { fact } from '#contract/facts.ts'
import { decodeHeader, encodeHeader, MAX_HEADER_LENGTH } from './header.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

test('a value comes back as it went', () => {
  const value = { x402Version: 2, text: 'Zürich ☂', nested: { list: [1, 'two', null, true] } }
  expect(encodeHeader(value)).toBe(base64(JSON.stringify(value)))
  expect(decodeHeader(encodeHeader(value))).toEqual({ ok: true, value })
})

test.each([
  ['nothing', ''],
  [
    'base64url',
    base64('{"a":"\u00ff\u00ff\u00bf>>>???"}')
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace('eyJh', 'ey_h'),
  ],
  ['missing padding', base64('{"ab":1}').replace(/=+$/, '')],
  ['bits left over', base64('{}').replace('e30=', 'e31=')],
  ['white space', `${base64('{}')} `],
  ['a line break', `${base64('{}')}\n`],
  ['other text', 'not base64!'],
])('%s is not canonical base64', (_, text) => {
  expect(decodeHeader(text)).toEqual({ ok: false, problem: fact('not_base64') })
})

test.each([
  ['text that is no JSON', base64('{'), fact('json_malformed')],
  [
    'a key twice',
    base64('{"a":1,"\\u0061":2}'),
    { code: 'json_duplicate_key', params: { key: 'a' } },
  ],
  ['deep nesting', base64('['.repeat(80)), { code: 'json_too_deep', params: { maxLevels: 64 } }],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('base64'), fact('not_utf8')],
])('%s is told as a problem', (_, text, problem) => {
  expect(decodeHeader(text)).toEqual({ ok: false, problem })
})

test('what a seller says of its response is read at any depth that sellers use, and reaches no prototype', () => {
  const schema = '{"properties":'.repeat(20) + '{}' + '}'.repeat(20)
  const text = `{"extensions":{"bazaar":${schema}},"a":{"constructor":{"name":1},"__proto__":{"b":1},"c":2}}`
  const decoded = decodeHeader(base64(text))
  expect(decoded).toEqual({
    ok: true,
    value: { extensions: { bazaar: JSON.parse(schema) }, a: { c: 2 } },
  })
})

test('8 KiB are read, one group more is not', () => {
  const fill = (length: number) => base64(JSON.stringify('x'.repeat((length / 4) * 3 - 2)))
  expect(fill(MAX_HEADER_LENGTH)).toHaveLength(MAX_HEADER_LENGTH)
  expect(decodeHeader(fill(MAX_HEADER_LENGTH)).ok).toBe(true)
  expect(decodeHeader(fill(MAX_HEADER_LENGTH + 4))).toEqual({
    ok: false,
    problem: { code: 'header_too_long', params: { maxCharacters: MAX_HEADER_LENGTH } },
  })
})
