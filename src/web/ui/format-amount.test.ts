import { expect, test } from 'vitest'
import { NUMBER_STYLES } from '../local-data/preferences.ts'
import { readDecimal } from '../locales/decimal.ts'
import { formatAmountText } from './format-amount.ts'

const text = (atomic: bigint, decimals: number, exact = false) =>
  formatAmountText(atomic, decimals, { exact, locale: 'en' }).text

test('amounts have two decimals at least, groups, and no exponent', () => {
  expect(text(100_000_000_000_000_000n, 18)).toBe('0.10')
  expect(text(1_234_567n * 10n ** 18n, 18)).toBe('1,234,567.00')
  expect(text(0n, 9)).toBe('0.00')
  expect(text(10n ** 40n, 18)).toBe('10,000,000,000,000,000,000,000.00')
})

test('short text never claims more than there is', () => {
  expect(formatAmountText(1_999_999_999_999_999_999n, 18, { locale: 'en' })).toEqual({
    text: '1.999999',
    exact: '1.999999999999999999',
    cut: true,
  })
})

test('a small amount keeps its first three digits instead of reading as nothing', () => {
  expect(text(1n, 18)).toBe('0.000000000000000001')
  expect(text(21_123_456_789n, 18)).toBe('0.0000000211')
})

test('exact text holds every digit, and none that says nothing', () => {
  expect(text(1_234_567_890_123_456_789n, 18, true)).toBe('1.234567890123456789')
  expect(text(100_000_000n, 9, true)).toBe('0.1')
  expect(text(1_234n * 10n ** 6n, 6, true)).toBe('1,234')
})

test("the reader's own separators are used", () => {
  expect(formatAmountText(1_234_500_000_000n, 9, { locale: 'de' }).text).toBe('1.234,50')
  expect(formatAmountText(1_234_500_000_000n, 9, { locale: 'ar-EG' }).text).toMatch(/^[0-9.,]+$/)
})

test('amounts are grouped as the chosen style of numbers groups prices, and can be typed so', () => {
  for (const locale of NUMBER_STYLES) {
    const { text: written } = formatAmountText(1_234_567_890_000n, 6, { locale })
    const price = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 })
    expect(written).toBe(price.format(1_234_567.89))
    expect(readDecimal(written, locale)).toEqual({ ok: true, plain: '1234567.89' })
  }
  expect(formatAmountText(-1_234_567n, 0, { locale: 'en-IN' }).text).toBe('-12,34,567')
})
