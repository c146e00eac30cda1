import { expect, test } from 'vitest'
import { countBuckets, countEndpoints } from './count-usage.ts'

const hour = 3_600_000
const row = (
  startsAt: number,
  endpoint: string,
  status: '2xx' | '3xx' | '4xx' | '5xx',
  requests: number,
) => ({
  startsAt,
  endpoint,
  status,
  requests,
  keyId: 'key_1',
})
const rows = [
  row(0, 'paymentList', '2xx', 5),
  row(0, 'paymentList', '4xx', 2),
  row(2 * hour, 'usage', '5xx', 1),
  row(2 * hour, 'usage', '3xx', 1),
  row(9 * hour, 'late', '2xx', 9),
]

test('every period has a bucket, and what lies outside has none', () => {
  expect(countBuckets(rows, { since: 0, until: 3 * hour, ms: hour })).toEqual([
    { at: 0, answered: 5, refused: 2, failed: 0 },
    { at: hour, answered: 0, refused: 0, failed: 0 },
    { at: 2 * hour, answered: 1, refused: 0, failed: 1 },
  ])
})

test('endpoints are counted over all periods, the busiest first', () => {
  expect(
    countEndpoints(rows).map(({ endpoint, requests, refused, failed }) => [
      endpoint,
      requests,
      refused,
      failed,
    ]),
  ).toEqual([
    ['late', 9, 0, 0],
    ['paymentList', 7, 2, 0],
    ['usage', 2, 0, 1],
  ])
})
