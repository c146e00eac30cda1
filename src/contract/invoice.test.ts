import * as v from 'valibot'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  day,
  dayIn,
  dueDay,
  fiatDecimals,
  InvoiceLine,
  invoiceTotals,
  TimeZone,
} from './invoice.ts'

const line = (quantity: string, unitPrice: string, taxPercent: string | null = null) => ({
  name: 'Tea',
  quantity,
  unitPrice,
  taxPercent,
})
const EUR = { decimals: 2 }

describe('the total of an invoice', () => {
  test('is exact where doubles are not', () => {
    // In doubles, 0.1 × 3 is 0.30000000000000004 and 1.005 × 1 rounds down.
    expect(invoiceTotals([line('3', '0.1'), line('1', '1.005')], EUR).total).toBe('1.31')
    expect(invoiceTotals([line('9999999', '999999999999.99')], EUR).total).toBe(
      '9999998999999900000.01',
    )
  })

  test('rounds each line and the tax of each line half up, and adds what is printed', () => {
    const totals = invoiceTotals(
      [line('1', '0.05', '10'), line('1', '0.05', '10'), line('2.5', '3.333', '21.00')],
      EUR,
    )
    expect(totals).toEqual({
      nets: ['0.05', '0.05', '8.33'],
      net: '8.43',
      tax: '1.77',
      // 0.005 and 0.005, each up to 0.01; 1.7493 to 1.75.
      taxes: [
        { percent: '10', tax: '0.02' },
        { percent: '21', tax: '1.75' },
      ],
      total: '10.2',
    })
  })

  test('is in the units of the currency: none for JPY, 18 for ETH', () => {
    expect(invoiceTotals([line('1', '99.5', '8')], { decimals: fiatDecimals('JPY') }).total).toBe(
      '108',
    )
    expect(invoiceTotals([line('3', '0.000000000000000001')], { decimals: 18 }).total).toBe(
      '0.000000000000000003',
    )
    expect(fiatDecimals('EUR')).toBe(2)
  })

  test('keeps the decimals of ISO 4217, also where cash is counted in whole units', () => {
    const total = (code: string, ...prices: string[]) =>
      invoiceTotals(
        prices.map((price) => line('1', price)),
        { decimals: fiatDecimals(code) },
      ).total
    expect(total('HUF', '99.50')).toBe('99.5')
    expect(total('COP', '0.50', '0.50', '0.50')).toBe('1.5')
    expect(total('IQD', '1.2345')).toBe('1.235')
    const codes = 'IDR PKR LBP ALL RSD KWD IQD CLF KRW CLP ISK XAF'.split(' ')
    expect(codes.map(fiatDecimals)).toEqual([2, 2, 2, 2, 2, 3, 3, 4, 0, 0, 0, 0])
  })

  test('names no tax where a line names none, and 0 % where it does', () => {
    expect(invoiceTotals([line('1', '1')], EUR).taxes).toEqual([])
    expect(invoiceTotals([line('1', '1', '0')], EUR).taxes).toEqual([{ percent: '0', tax: '0' }])
  })
})

test.each([
  ['quantity', line('1.2345', '1')],
  ['quantity', line('12345678', '1')],
  ['quantity', line('-1', '1')],
  ['unitPrice', line('1', '1e3')],
  ['unitPrice', line('1', '1234567890123')],
  ['taxPercent', line('1', '1', '101')],
  ['taxPercent', line('1', '1', '100.5')],
])('a line with a wrong %s is refused', (field, wrong) => {
  const issues = v.safeParse(InvoiceLine, wrong).issues ?? []
  expect(issues.map((issue) => v.getDotPath(issue))).toContain(field)
})

test('a day is one of the calendar', () => {
  expect(v.is(day, '2028-02-29')).toBe(true)
  for (const wrong of ['2026-02-29', '2026-13-01', '2026-1-1', '26-01-01', '2026-04-31'])
    expect(v.is(day, wrong), wrong).toBe(false)
})

test('the day of a moment is that of its time zone, however the version of ICU writes dates', () => {
  // As others write the short date of the same options.
  const { prototype } = Intl.DateTimeFormat
  const own = Object.getOwnPropertyDescriptor(prototype, 'format') ?? {}
  Object.defineProperty(prototype, 'format', { ...own, get: () => () => '11/26/26' })
  onTestFinished(() => void Object.defineProperty(prototype, 'format', own))
  const at = new Date('2026-03-31T21:05:00Z')
  expect(dayIn('Pacific/Auckland', at)).toBe('2026-04-01')
  expect(dayIn('UTC', at)).toBe('2026-03-31')
  expect(dayIn('America/New_York', new Date('2026-01-01T00:00:00Z'))).toBe('2025-12-31')
  expect(v.is(TimeZone, 'Europe/Madrid')).toBe(true)
  for (const wrong of ['Europe/Nowhere', '+02:00', '', 'Pacific/Aukland'])
    expect(v.is(TimeZone, wrong), wrong).toBe(false)
})

test("an invoice is due 14 of the merchant's days later", () => {
  const at = new Date('2026-03-31T21:05:00Z')
  expect(dueDay('Pacific/Auckland', at)).toBe('2026-04-15')
  expect(dueDay('UTC', at)).toBe('2026-04-14')
  // The clocks go forward between the two days.
  expect(dueDay('Europe/Madrid', new Date('2026-03-20T22:30:00Z'))).toBe('2026-04-03')
  expect(dueDay('Europe/Nowhere', at)).toBe('2026-04-14')
})
