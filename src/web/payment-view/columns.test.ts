import { afterEach, expect, test } from 'vitest'
import {
  fitColumns,
  leastPixels,
  readColumns,
  resetColumns,
  shownColumns,
  toggleColumn,
} from './columns.ts'
import { purposeOf, quotedPriceOf } from './describe-row.ts'

afterEach(resetColumns)

test('where there is less room the usual columns leave in turn, and come back', () => {
  fitColumns(2_000, true)
  const all = shownColumns()
  expect(all).toEqual(['amount', 'status', 'party', 'purpose', 'labels', 'date'])
  fitColumns(leastPixels(all), true)
  expect(shownColumns()).toBe(all)
  fitColumns(leastPixels(all) - 1, true)
  const narrower = ['amount', 'status', 'party', 'purpose', 'date']
  expect(shownColumns()).toEqual(narrower)
  fitColumns(1, true)
  expect(shownColumns()).toEqual(['amount', 'status', 'party', 'date'])
  fitColumns(2_000, true)
  expect(shownColumns()).toBe(all)
})

test('labels have no column where no row has any, until somebody chooses it', () => {
  fitColumns(2_000, false)
  const usual = ['amount', 'status', 'party', 'purpose', 'date']
  expect(shownColumns()).toEqual(usual)
  toggleColumn('labels')
  expect(shownColumns()).toContain('labels')
  resetColumns()
  expect(shownColumns()).toEqual(usual)
})

test('who chose the column of customers, which is no more, sees who paid', () => {
  expect(readColumns('["status","customer","date"]')).toEqual(['amount', 'status', 'party', 'date'])
  expect(readColumns('{')).toBeNull()
})

test('what somebody chose stays, whatever room there is', () => {
  fitColumns(1, true)
  toggleColumn('labels')
  const chosen = ['amount', 'status', 'party', 'labels', 'date']
  expect(shownColumns()).toEqual(chosen)
  fitColumns(2_000, true)
  expect(shownColumns()).toEqual(chosen)
  resetColumns()
  expect(shownColumns()).toContain('purpose')
})

test('a resource is named by its path, then its host: what tells rows of one merchant apart is never cut first', () => {
  const named = (resource: string | null) =>
    purposeOf({ resource, metadata: { description: 'Tea', referenceId: 'INV-1' } })
  expect(named('https://journal.example/issues/2026-autumn?day=1')).toBe(
    '/issues/2026-autumn?day=1 · journal.example',
  )
  expect(named('https://journal.example/')).toBe('journal.example')
  expect(named('https://journal.example')).toBe('journal.example')
  expect(named('urn:isbn:1')).toBe('urn:isbn:1')
  expect(named(null)).toBe('Tea')
})

test('who hides amounts hides the quoted prices that tell them', () => {
  const [rate, at] = [{ rate: '1250', source: 'a source', round: null }, 1]
  const times = { observedAt: at, quotedAt: at, expiresAt: at }
  const row = { metadata: { quote: { currency: 'EUR', amount: '12.50', ...rate, ...times } } }
  expect(quotedPriceOf(row, { hideAmounts: false })).toBe('€12.50')
  expect(quotedPriceOf(row, { hideAmounts: true })).toBeUndefined()
})
