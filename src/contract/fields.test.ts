import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  address,
  atomic,
  decimal,
  describe as quote,
  metadata,
  paymentId,
  plainNumber,
  resource,
  timestamp,
  wholeNumber,
} from './fields.ts'
import { parseJson } from './json.ts'

const problemOf = (schema: v.GenericSchema, value: unknown) =>
  v.safeParse(schema, value).issues?.[0].message

describe('decimal', () => {
  test('gives the digits as they were written', () => {
    for (const digits of ['0.1', '1e-3', '100', '0.10', '123456789012345678901234567890'])
      expect(v.parse(decimal, parseJson(digits))).toBe(digits)
  })

  test.each([
    '"0.1"',
    'null',
    'true',
    '[1]',
    '{"value":"1"}',
    '{"value":"1","isLosslessNumber":true}',
  ])('refuses %s', (text) => {
    expect(problemOf(decimal, parseJson(text))).toMatch(/^Expected a number, received /)
  })

  test('refuses numbers that JSON cannot spell', () => {
    for (const value of [Number.NaN, Infinity, -Infinity]) expect(v.is(decimal, value)).toBe(false)
  })
})

describe('plainNumber', () => {
  test.each([
    ['30', 30],
    ['30.0', 30],
    ['3e1', 30],
    ['1.5', 1.5],
  ])('reads %s as %d', (text, number) => {
    expect(v.parse(plainNumber, parseJson(text))).toBe(number)
  })

  test.each(['"30"', 'null', '[30]'])('refuses %s', (text) => {
    expect(problemOf(plainNumber, parseJson(text))).toMatch(/^Expected a number, received /)
  })
})

describe('metadata', () => {
  test('takes any object, its numbers with their digits', () => {
    const value = parseJson('{"reference":"order-1","weight":0.10,"tags":["a",{"b":null}]}')
    expect(v.parse(metadata, value)).toBe(value)
    expect(v.is(metadata, {})).toBe(true)
  })

  test.each(['[]', 'null', '"text"', '1', '0.1'])('refuses %s', (text) => {
    expect(problemOf(metadata, parseJson(text))).toMatch(/^Expected an object, received /)
  })

  test('counts 32 keys', () => {
    const withKeys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))
    expect(v.is(metadata, withKeys(32))).toBe(true)
    expect(problemOf(metadata, withKeys(33))).toBe('Expected at most 32 keys.')
  })

  test('counts the bytes of the JSON, not characters', () => {
    const rest = '{"k":""}'.length
    expect(v.is(metadata, { k: 'a'.repeat(4096 - rest) })).toBe(true)
    expect(problemOf(metadata, { k: 'a'.repeat(4097 - rest) })).toBe('Expected at most 4096 bytes.')
    expect(v.is(metadata, { k: 'é'.repeat(2044) })).toBe(true)
    expect(v.is(metadata, { k: 'é'.repeat(2045) })).toBe(false)
  })

  test('counts a long number as the digits that were sent', () => {
    // 80 numbers of 48 digits each, 3,920 bytes with commas: an object for each of them would count twice as much.
    const text = `{"k":[${Array.from({ length: 80 }, () => `0.${'1'.repeat(46)}`).join(',')}]}`
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(4096)
    expect(v.is(metadata, parseJson(text))).toBe(true)
    const tooLong = `{"k":0.${'1'.repeat(4096)}}`
    expect(problemOf(metadata, parseJson(tooLong))).toBe('Expected at most 4096 bytes.')
  })
})

describe('address', () => {
  test('gives the normal form', () => {
    expect(
      v.parse(
        address,
        '0xde709f2102306220921060314715629080e2fb77'.toUpperCase().replace('0X', '0x'),
      ),
    ).toBe('0xde709f2102306220921060314715629080e2fb77')
  })

  test('tells a wrong checksum from what is no address', () => {
    expect(problemOf(address, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD')).toContain(
      'EIP-55 checksum',
    )
    expect(problemOf(address, 'bob')).toBe(
      'Expected 0x and 40 hex digits, or base58 of 32 bytes, received "bob".',
    )
  })
})

describe('resource', () => {
  test.each([
    'https://example.com/a?b=c#d',
    'http://localhost:3000/',
    'https://müller.example/ü',
    'HTTPS://EXAMPLE.com/A',
  ])('takes %s', (text) => {
    expect(v.is(resource, text)).toBe(true)
  })

  test.each([
    '',
    'example.com',
    '/path',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://example.com',
    'https://',
    'https://a b.example',
    ' https://example.com',
    'https://example.com\n',
    `https://example.com/${'a'.repeat(2048)}`,
    // Fewer than 2,048 characters.
    `https://example.com/${'字'.repeat(700)}`,
  ])('refuses %j', (text) => {
    expect(v.is(resource, text)).toBe(false)
  })
})

test('wholeNumber takes whole numbers within its bounds and never clamps', () => {
  const schema = wholeNumber(1, 500)
  for (const [text, value] of [
    ['1', 1],
    ['500', 500],
    ['050', 50],
  ] as const)
    expect(v.parse(schema, text)).toBe(value)
  for (const text of ['0', '501', '-1', '1.5', '1e2', '', ' 1', '١', 'NaN', '9'.repeat(40)])
    expect(problemOf(schema, text)).toMatch(/^Expected a whole number from 1 to 500, received /)
})

test('atomic is canonical digits', () => {
  for (const text of ['0', '1', '9'.repeat(78)]) expect(v.is(atomic, text)).toBe(true)
  for (const text of ['', '00', '01', '-1', '1.0', '1e3', '0x1', '9'.repeat(79), '1\n'])
    expect(v.is(atomic, text)).toBe(false)
})

test('paymentId and timestamp refuse what has not their shape', () => {
  expect(v.is(paymentId, `pay_${'1'.repeat(22)}`)).toBe(true)
  expect(problemOf(paymentId, 'pay_1')).toBe('Expected pay_ and 22 base58 characters.')
  expect(v.is(timestamp, 1.5)).toBe(false)
})

test('a foreign value is quoted on one short line', () => {
  for (const text of [
    'undefined',
    'null',
    '"a\\nb"',
    '[1]',
    '{}',
    '0.123',
    'true',
    `"${'x'.repeat(1000)}"`,
  ]) {
    const quoted = quote(text === 'undefined' ? undefined : parseJson(text))
    expect(quoted).not.toContain('\n')
    expect(quoted.length).toBeLessThan(80)
  }
})
