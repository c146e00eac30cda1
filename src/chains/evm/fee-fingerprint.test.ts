import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addFingerprint, randomBelow, formatFingerprint } from './fee.ts'

/** Random digits in the fees of an order: what they may change, and when they are too few to tell one order from another. */

const GWEI = 10n ** 9n
const SPAN = 2n ** 24n

const price = fc
  .record({
    baseFeePerGas: fc.bigInt(0n, 500n * GWEI),
    tip: fc.bigInt(0n, 50n * GWEI),
    above: fc.bigInt(0n, 500n * GWEI),
    random: fc.bigInt(0n, 2n ** 64n),
  })
  .chain((all) => fc.boolean().map((namedPriorityFee) => ({ ...all, namedPriorityFee })))

test('the fees stay within the ceiling, above the base fee, and a named priority fee is never exceeded', () => {
  fc.assert(
    fc.property(price, ({ baseFeePerGas, tip, above, random, namedPriorityFee }) => {
      const ceilingPerGas = baseFeePerGas + tip + above
      const wanted = baseFeePerGas * 2n + tip
      const maxFeePerGas = wanted < ceilingPerGas ? wanted : ceilingPerGas
      const room = {
        baseFeePerGas,
        ceilingPerGas,
        namedPriorityFee,
        random: (limit: bigint) => random % limit,
      }
      const fees = addFingerprint({ maxFeePerGas, maxPriorityFeePerGas: tip }, room)
      expect(fees.maxFeePerGas <= ceilingPerGas).toBe(true)
      expect(fees.maxFeePerGas >= baseFeePerGas + fees.maxPriorityFeePerGas).toBe(true)
      expect(fees.maxPriorityFeePerGas >= 0n).toBe(true)
      if (namedPriorityFee) expect(fees.maxPriorityFeePerGas <= tip).toBe(true)
      expect(fees.maxPriorityFeePerGas - tip < SPAN && tip - fees.maxPriorityFeePerGas < SPAN).toBe(
        true,
      )
      expect(
        fees.maxFeePerGas - maxFeePerGas < 2n * SPAN && maxFeePerGas - fees.maxFeePerGas < SPAN,
      ).toBe(true)
      if (fees.fingerprint !== null) expect(fees.fingerprint).toBe(formatFingerprint(fees))
    }),
    { numRuns: 20_000 },
  )
})

const open = {
  baseFeePerGas: GWEI,
  ceilingPerGas: 1_000n * GWEI,
  namedPriorityFee: false,
  random: randomBelow,
}
const usual = { maxFeePerGas: 3n * GWEI, maxPriorityFeePerGas: GWEI }

test.each([
  ['a usual price has 48 bits', usual, open, true],
  [
    'at a ceiling the digits go downwards',
    { ...usual, maxFeePerGas: 40n * GWEI },
    { ...open, ceilingPerGas: 40n * GWEI },
    true,
  ],
  ['a named priority fee gives its own digits', usual, { ...open, namedPriorityFee: true }, true],
  [
    'a priority fee of nothing leaves 24 bits: none',
    { ...usual, maxPriorityFeePerGas: 0n },
    { ...open, namedPriorityFee: true },
    false,
  ],
  [
    'no room between base fee and ceiling: none',
    { maxFeePerGas: 2n * GWEI, maxPriorityFeePerGas: GWEI },
    { ...open, ceilingPerGas: 2n * GWEI },
    false,
  ],
] as const)('%s', (_title, built, room, has) => {
  expect(addFingerprint(built, room).fingerprint !== null).toBe(has)
})

test('two orders of one moment have different fees', () => {
  const many = Array.from({ length: 10_000 }, () => addFingerprint(usual, open).fingerprint)
  expect(new Set(many).size).toBe(many.length)
})
