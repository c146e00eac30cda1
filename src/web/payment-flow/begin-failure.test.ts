import 'fake-indexeddb/auto'
import { expect, test } from 'vitest'
import { describeBeginFailure } from './begin-failure.ts'

test('only a browser that stores nothing is blamed for it', () => {
  const stored = /^This browser cannot store payments/
  expect(describeBeginFailure(new DOMException('Full', 'QuotaExceededError'))).toMatch(stored)
  const chunk = new TypeError('Failed to fetch dynamically imported module')
  expect(describeBeginFailure(chunk)).not.toMatch(stored)
  expect(describeBeginFailure(chunk)).toMatch(/Nothing was sent\.$/)
})
