import { expect, test } from 'vitest'
import { axisOf, barHeight, gridlines, labelPositions, shareOf } from './BarChart.tsx'

test('shares are right for amounts no double can hold', () => {
  const max = 3n * 10n ** 30n
  expect(shareOf(10n ** 30n, max)).toBeCloseTo(1 / 3, 3)
  expect(shareOf(max, max)).toBe(1)
  expect(shareOf(0n, 0n)).toBe(0)
})

test('a day with any money has a bar, a day without has none', () => {
  expect(barHeight(1n, 10n ** 30n, 100)).toBe(2)
  expect(barHeight(0n, 10n, 100)).toBe(0)
})

test('the first and the last day are always labelled', () => {
  for (const count of [1, 2, 4, 7, 30, 90, 366]) {
    const places = labelPositions(count, 4)
    expect(places[0]).toBe(0)
    expect(places.at(-1)).toBe(count - 1)
    expect(new Set(places).size).toBe(places.length)
  }
})

test('gridlines are round, few, and reach beyond every bar', () => {
  expect(gridlines(axisOf(37n, 0n))).toEqual([40n, 30n, 20n, 10n, 0n])
  expect(gridlines(axisOf(9n, 4n))).toEqual([10n, 5n, 0n, -5n])
  expect(gridlines(axisOf(0n, 3n))).toEqual([0n, -1n, -2n, -3n])
  expect(gridlines(axisOf(0n, 0n))).toEqual([1n, 0n])
  for (const above of [0n, 1n, 7n, 999n, 10n ** 30n + 1n])
    for (const below of [0n, 1n, 12n, 10n ** 31n]) {
      const axis = axisOf(above, below)
      expect(axis.top).toBeGreaterThanOrEqual(above)
      expect(axis.bottom).toBeGreaterThanOrEqual(below)
      expect(axis.step.toString()).toMatch(/^[125]0*$/)
      expect(gridlines(axis).length).toBeLessThanOrEqual(7)
    }
})
