import { expect, test } from 'vitest'
import { readDecimal } from './decimal.ts'

test.each([
  ['es-ES', '0,1', '0.1'],
  ['es-ES', '1234,5', '1234.5'],
  ['es-ES', '1.234,5', '1234.5'],
  ['es-ES', '1.234.567', '1234567'],
  ['es-ES', '1,234', '1.234'],
  ['es-ES', '0.5', '0.5'],
  ['es-ES', '0.123', '0.123'],
  ['es-ES', '1234.567', '1234.567'],
  ['es-ES', '1,234.56', '1234.56'],
  ['en', '1,234.56', '1234.56'],
  ['en', '1.234,56', '1234.56'],
  ['en', '1,234,567', '1234567'],
  ['en', '0,5', '0.5'],
  ['en', '.5', '0.5'],
  ['en', ' 12 ', '12'],
  ['en', '5.', '5'],
  ['es-MX', '1.234', '1.234'],
  ['zh-CN', '0.1', '0.1'],
  ['fr-FR', '1\u202f234,5', '1234.5'],
  ['fr-FR', '1 234 567', '1234567'],
  ['de-CH', '1’234.5', '1234.5'],
  ['en', '0.000000000000000001', '0.000000000000000001'],
  ['en-IN', '12,34,567.89', '1234567.89'],
  ['en-IN', '1,23,45,678', '12345678'],
  ['en-IN', '1,234,567.89', '1234567.89'],
])('%s: %s is %s', (locale, typed, plain) => {
  expect(readDecimal(typed, locale)).toEqual({ ok: true, plain })
})

test.each([
  ['es-ES', '1.234'],
  ['es-ES', '12.000'],
  ['en', '1,234'],
  ['en', '999,999'],
])('%s: %s could be a thousand times more or less, so it is refused', (locale, typed) => {
  expect(readDecimal(typed, locale)).toEqual({ ok: false, problem: 'ambiguous' })
})

test.each([
  '',
  '.',
  ',',
  '1e5',
  '-1',
  '1,23,4',
  '1.2.3',
  '1,234.5,6',
  '0x10',
  '1 2',
  '٣',
  '1,,2',
  '12,345.678.9',
  '12,34,567',
])('%j is no number', (typed) => {
  for (const locale of ['en', 'es-ES'])
    expect(readDecimal(typed, locale)).toEqual({ ok: false, problem: 'not_a_number' })
})
