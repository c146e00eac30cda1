import { expect, test } from 'vitest'
import { nextDrawn, type RowRange } from './drawn-rows.ts'

const NONE: RowRange = { from: 0, to: -1 }

/** Every frame until nothing is added. */
function frames(start: RowRange, sight: RowRange, count: number): RowRange[] {
  const all = [start]
  for (;;) {
    const last = all.at(-1) as RowRange
    const next = nextDrawn(last, sight, count)
    if (next === last) return all
    all.push(next)
  }
}

test.each([
  ['a list that opens', NONE, { from: 0, to: 12 }, 100, { from: 0, to: 20 }],
  ['reading on', { from: 0, to: 20 }, { from: 10, to: 22 }, 100, { from: 2, to: 30 }],
  ['reading back', { from: 40, to: 68 }, { from: 30, to: 42 }, 100, { from: 22, to: 50 }],
  [
    'a jump',
    { from: 0, to: 20 },
    { from: 70_000, to: 70_012 },
    100_000,
    { from: 69_992, to: 70_020 },
  ],
  ['the end', { from: 70, to: 90 }, { from: 88, to: 99 }, 100, { from: 80, to: 99 }],
  ['a list shorter than the screen', NONE, { from: 0, to: 2 }, 3, { from: 0, to: 2 }],
  ['a list that became shorter', { from: 0, to: 20 }, { from: 0, to: 4 }, 5, { from: 0, to: 4 }],
])(
  '%s comes to what is in sight and some beyond, a few rows a frame, without a gap',
  (_, start, sight, count, end) => {
    const all = frames(start, sight, count)
    expect(all.at(-1)).toEqual(end)
    for (const [index, { from, to }] of all.slice(1).entries()) {
      const before = all[index] as RowRange
      const stayed = Math.max(0, Math.min(to, before.to) - Math.max(from, before.from) + 1)
      expect(to - from + 1 - stayed).toBeLessThanOrEqual(3)
    }
  },
)

test('what is in sight comes before what is beyond', () => {
  expect(frames(NONE, { from: 50, to: 55 }, 100).slice(1, 3)).toEqual([
    { from: 50, to: 52 },
    { from: 50, to: 55 },
  ])
  expect(nextDrawn({ from: 52, to: 65 }, { from: 50, to: 57 }, 100)).toEqual({ from: 49, to: 65 })
})

test('after a jump the edge it came from is drawn last: those rows leave first', () => {
  expect(nextDrawn({ from: 0, to: 20 }, { from: 50, to: 57 }, 100)).toEqual({ from: 55, to: 57 })
  expect(nextDrawn({ from: 80, to: 99 }, { from: 50, to: 57 }, 100)).toEqual({ from: 50, to: 52 })
})
