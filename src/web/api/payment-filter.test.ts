import { expect, test } from 'vitest'
import { entriesQueryOf, listQueryOf, rangeOf, renewOpened } from './payment-filter.ts'

const now = Date.parse('2026-03-01T10:00:00Z')
const utc = (filter: Parameters<typeof rangeOf>[0]) => {
  const { since, until } = rangeOf(filter, 'utc', now)
  return [since, until].map((at) => (at === undefined ? undefined : new Date(at).toISOString()))
}

test.each([
  [{ when: 'today' }, '2026-03-01T00:00:00.000Z', undefined],
  [{ when: '7d' }, '2026-02-23T00:00:00.000Z', undefined],
  [{ when: '30d' }, '2026-01-31T00:00:00.000Z', undefined],
  [{ when: 'month' }, '2026-03-01T00:00:00.000Z', undefined],
  [{ when: 'last-month' }, '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  [
    { from: '2026-02-28', to: '2026-02-28' },
    '2026-02-28T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
  ],
  [{ to: '2025-12-31' }, undefined, '2026-01-01T00:00:00.000Z'],
  [{}, undefined, undefined],
] as const)('%j begins and ends with whole days', (filter, since, until) => {
  expect(utc(filter)).toEqual([since, until])
})

test('the service is asked for what is set and nothing else', () => {
  expect(
    listQueryOf(
      { type: 'sent', status: 'failed,expired', min: '0.5', from: '2026-02-01' },
      'utc',
      now,
    ),
  ).toEqual({
    type: 'sent',
    status: 'failed,expired',
    minAmount: '0.5',
    since: String(Date.parse('2026-02-01T00:00:00Z')),
  })
})

test('a file of entries asks for whole days of UTC by landing, whatever zone the list has', () => {
  const query = (filter: Parameters<typeof entriesQueryOf>[0]) => entriesQueryOf(filter, now)
  expect(query({ when: 'last-month', type: 'received' })).toEqual({
    type: 'received',
    by: 'landed',
    since: String(Date.parse('2026-02-01T00:00:00Z')),
    until: String(Date.parse('2026-03-01T00:00:00Z')),
  })
  // The next month begins where it ends.
  expect(Number(query({ from: '2026-03-01' }).since)).toBe(
    Number(query({ to: '2026-02-28' }).until),
  )
  expect(query({ status: 'incomplete' })).toEqual({ status: 'incomplete' })
})

test('a period means the days of the moment it is used, in a list that was opened before midnight too', () => {
  const [opened, before, after] = [
    '2026-11-30T10:00:00Z',
    '2026-11-30T23:59:59Z',
    '2026-12-01T00:00:00Z',
  ].map(Date.parse) as [number, number, number]
  for (const when of ['today', '7d', '30d', 'month', 'last-month'] as const) {
    const at = (now: number) => renewOpened(opened, { filter: { when }, zone: 'utc', now })
    expect(at(before), when).toBe(opened)
    expect(at(after), when).toBe(after)
  }
  // Days that are named stay, and the days of a month stay to its end.
  const named = { from: '2026-11-01', to: '2026-11-30' }
  expect(renewOpened(opened, { filter: named, zone: 'utc', now: after })).toBe(opened)
  const lastMonth = {
    filter: { when: 'last-month' },
    zone: 'utc',
    now: after + 86_400_000,
  } as const
  expect(renewOpened(after, lastMonth)).toBe(after)
})
