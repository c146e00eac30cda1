import { expect, test } from 'vitest'
import { nextRow } from './use-row-keys.ts'

test('the first key goes to the first row, and the ends hold', () => {
  expect(nextRow(undefined, 1, 10)).toBe(0)
  expect(nextRow(undefined, -1, 10)).toBe(0)
  expect(nextRow(4, 1, 10)).toBe(5)
  expect(nextRow(9, 1, 10)).toBe(9)
  expect(nextRow(0, -1, 10)).toBe(0)
})
