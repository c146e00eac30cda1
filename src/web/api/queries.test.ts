import { expect, test } from 'vitest'
import { deliveriesAfter } from './queries.ts'

/** What the service answers: made before `until`, the newest first. */
function readAll(
  createdAt: ReadonlyMap<string, number>,
  afterFirst: (page: string[]) => string | undefined,
): Set<string> {
  const rows = new Map(createdAt)
  const seen = new Set<string>()
  let from: ReturnType<typeof deliveriesAfter> = null
  for (let pages = 0; from !== undefined; pages++) {
    const { until, offset } = from ?? { until: Infinity, offset: 0 }
    const page = [...rows]
      .map(([id, at]) => ({ id, createdAt: at }))
      .filter((row) => row.createdAt < until)
      .toSorted((a, b) => b.createdAt - a.createdAt)
      .slice(offset, offset + 50)
    for (const { id } of page) seen.add(id)
    from = deliveriesAfter(page, from)
    // It is delivered again, and is none of the failed ones any more.
    const left = pages === 0 ? afterFirst(page.map(({ id }) => id)) : undefined
    if (left !== undefined) rows.delete(left)
  }
  return seen
}

test('more deliveries are read without a gap, though one was delivered again meanwhile', () => {
  const made = new Map(Array.from({ length: 120 }, (_, index) => [`${index}`, 5000 - index * 10]))
  expect(readAll(made, () => undefined).size).toBe(120)
  expect(readAll(made, ([first]) => first).size).toBe(120)
  expect(readAll(made, (page) => page.at(-1)).size).toBe(120)
})

test('and though over a hundred were made at one time', () => {
  const made = new Map(Array.from({ length: 130 }, (_, index) => [`${index}`, 5000]))
  for (let older = 0; older < 30; older++) made.set(`older ${older}`, 4000 - older)
  expect(readAll(made, () => undefined).size).toBe(160)
})
