import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  automaticTip,
  feeBoundAtomic,
  maxFeeAtomic,
  priceOfPriorityFee,
  priorityFeeOfPrice,
} from './fee.ts'

test('the price of a priority fee never costs more than the fee, and less than one wei a gas is lost', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 20n), fc.bigInt(21_000n, 1_000_000n), (fee, gas) => {
      const total = priorityFeeOfPrice(priceOfPriorityFee(fee, gas), gas)
      return total <= fee && fee - total < gas
    }),
    { numRuns: 10_000 },
  )
})

test('the bound is gas times the highest price, exactly', () => {
  expect(feeBoundAtomic({ gas: 21_000n, maxFeePerGas: 10n ** 30n + 1n })).toBe(
    21_000n * (10n ** 30n + 1n),
  )
})

test('a payer who names nothing accepts at most 0.005; a named priority fee comes on top', () => {
  expect(maxFeeAtomic()).toBe(5n * 10n ** 15n)
  expect(maxFeeAtomic(10n ** 16n)).toBe(15n * 10n ** 15n)
})

test.each([
  ['the median of recent blocks', [3, 1, 2, 9, 4], 3],
  ['a wei where nobody pays one', [0, 0, 0, 0, 0], 1],
  ['a wei where there are no blocks', [], 1],
  ['5 gwei where some blocks took more', [4e9, 30e9, 30e9, 40e9, 90e9], 5e9],
  ['what every block took where that is more', [31e9, 0, 30e9, 40e9, 90e9], 30e9],
])('an automatic tip is %s', (_, tips, tip) => {
  expect(automaticTip(tips.map(BigInt))).toBe(BigInt(tip))
})
