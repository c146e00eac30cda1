import { expect, test } from 'vitest'
import { formatQuantity } from './format-quantity.ts'

test('several pieces are counted, a single one is not', () => {
  const price = { kind: 'fiat' as const, currency: 'EUR', amount: '12.5' }
  expect(formatQuantity({ pieces: 3, price })).toBe('3 × €12.50')
  expect(formatQuantity({ pieces: 1, price })).toBeUndefined()
  expect(formatQuantity(undefined)).toBeUndefined()
})
