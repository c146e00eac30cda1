import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  feeBoundAtomic,
  MAX_AUTOMATIC_UNIT_PRICE,
  MAX_UNIT_PRICE,
  MAX_UNITS,
  maxFeeAtomic,
  priceOfPriorityFee,
  priorityFeeOfPrice,
} from './fee.ts'

test('the price of a priority fee never costs more than the fee, and at most a lamport for a million units is lost', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 12n), fc.bigInt(1n, 1_400_000n), (fee, units) => {
      const total = priorityFeeOfPrice(priceOfPriorityFee(fee, units), units)
      return total <= fee && fee - total <= units / 1_000_000n + 1n
    }),
    { numRuns: 10_000 },
  )
})

test('a started lamport is charged whole', () => {
  expect(priorityFeeOfPrice(1n, 1n)).toBe(1n)
  expect(priorityFeeOfPrice(50_000n, 30_000n)).toBe(1500n)
  expect(priorityFeeOfPrice(50_001n, 30_000n)).toBe(1501n)
  expect(priorityFeeOfPrice(0n, 60_000n)).toBe(0n)
})

test('the bound counts every signature and every unit asked for', () => {
  expect(
    feeBoundAtomic({
      signatures: 1,
      instructions: 4,
      unitLimit: 30_000,
      unitPriceMicroLamports: 50_000n,
    }),
  ).toBe(6500n)
  expect(
    feeBoundAtomic({
      signatures: 2,
      instructions: 4,
      unitLimit: 0,
      unitPriceMicroLamports: 50_000n,
    }),
  ).toBe(10_000n)
})

test('without a limit the bound takes the most the cluster would', () => {
  expect(
    feeBoundAtomic({
      signatures: 1,
      instructions: 3,
      unitLimit: undefined,
      unitPriceMicroLamports: 1_000_000n,
    }),
  ).toBe(605_000n)
  expect(
    feeBoundAtomic({
      signatures: 1,
      instructions: 60,
      unitLimit: undefined,
      unitPriceMicroLamports: 1_000_000n,
    }),
  ).toBe(1_405_000n)
  expect(
    feeBoundAtomic({
      signatures: 1,
      instructions: 3,
      unitLimit: undefined,
      unitPriceMicroLamports: undefined,
    }),
  ).toBe(5000n)
})

test('the caps fit each other: the dearest automatic fee and the dearest priority fee of the specification are both payable', () => {
  const automatic = feeBoundAtomic({
    signatures: 1,
    instructions: 4,
    unitLimit: MAX_UNITS,
    unitPriceMicroLamports: MAX_AUTOMATIC_UNIT_PRICE,
  })
  expect(automatic).toBeLessThan(maxFeeAtomic())
  const named = 10_000_000n
  const price = priceOfPriorityFee(named, 10_000n)
  expect(price).toBeLessThanOrEqual(MAX_UNIT_PRICE)
  expect(
    feeBoundAtomic({
      signatures: 1,
      instructions: 4,
      unitLimit: 10_000,
      unitPriceMicroLamports: price,
    }),
  ).toBeLessThanOrEqual(maxFeeAtomic(named))
})
