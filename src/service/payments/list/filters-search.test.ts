import { expect, test } from 'vitest'
import { endOf } from './history-where.ts'

test.each([
  ['shop', 'shoq'],
  ['a\u{10ffff}\u{10ffff}', 'b'],
  ['\ud7ff', '\ue000'],
  ['😀', '😁'],
  ['\u{10ffff}', undefined],
])('what begins with %j ends before %j', (start, end) => {
  expect(endOf(start)).toBe(end)
})
