import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  describeAmountProblem,
  formatAmount,
  MAX_ATOMIC,
  parseAmount,
  type AmountProblem,
} from './amount.ts'

/** The value of a decimal as a fraction over a power of ten, read by hand: an arithmetic that shares nothing with parseAmount. */
function toAtomicByHand(text: string, decimals: number): bigint | undefined {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const point = mantissa.indexOf('.')
  const digits = mantissa.replace('.', '')
  const places = point === -1 ? 0 : mantissa.length - point - 1
  const padded = digits + '0'.repeat(Math.max(0, decimals + Number(exponent) - places))
  const cut = Math.max(0, places - decimals - Number(exponent))
  const dropped = padded.slice(Math.max(0, padded.length - cut))
  return /^0*$/.test(dropped) ? BigInt(padded.slice(0, padded.length - cut) || '0') : undefined
}

const atomic = fc.oneof(
  fc.bigInt(1n, 10n ** 6n),
  fc.bigInt(1n, 10n ** 30n),
  fc.bigInt(1n, MAX_ATOMIC),
)

describe.each([9, 18, 6, 0])('with %i decimals', (decimals) => {
  test('atomic to text to atomic is exact', () => {
    fc.assert(
      fc.property(atomic, (value) => {
        const text = formatAmount(value, decimals)
        const parsed = parseAmount(text, decimals)
        return parsed.ok && parsed.atomic === value && !/e/i.test(text) && !/\.\d*0$/.test(text)
      }),
      { numRuns: 25_000 },
    )
  })

  test('text to atomic is exact, with and without an exponent', () => {
    const spelled = fc
      .tuple(
        fc.bigInt(0n, 10n ** 12n),
        fc.option(fc.stringMatching(/^[0-9]{1,20}$/)),
        fc.option(
          fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-', 'E-'), fc.integer({ min: 0, max: 30 })),
        ),
      )
      .map(
        ([whole, fraction, exponent]) =>
          `${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : exponent.join('')}`,
      )
    fc.assert(
      fc.property(spelled, (text) => {
        const parsed = parseAmount(text, decimals)
        const expected = toAtomicByHand(text, decimals)
        if (/^[0.]*$/.test(text.toLowerCase().split('e')[0] ?? ''))
          expect(parsed).toEqual({ ok: false, problem: 'not_positive' })
        else if (expected === undefined)
          expect(parsed).toEqual({ ok: false, problem: 'too_many_decimals' })
        else expect(parsed).toEqual({ ok: true, atomic: expected })
      }),
      { numRuns: 25_000 },
    )
  })
})

describe('parseAmount', () => {
  test.each([
    ['0.1', 18, 100_000_000_000_000_000n],
    ['0.1', 9, 100_000_000n],
    ['1e-3', 9, 1_000_000n],
    ['1E+2', 0, 100n],
    ['100', 18, 100n * 10n ** 18n],
    ['0.000000000000000001', 18, 1n],
    ['0.10000000000000000000000', 9, 100_000_000n],
    ['123456789.123456789123456789', 18, 123456789123456789123456789n],
    // A double would make this 0.30000000000000004.
    ['0.3', 18, 300_000_000_000_000_000n],
    ['9007199254740993', 0, 9_007_199_254_740_993n],
  ])('reads %s with %i decimals', (text, decimals, expected) => {
    expect(parseAmount(text, decimals)).toEqual({ ok: true, atomic: expected })
  })

  test.each<[string, number, AmountProblem]>([
    ['0', 18, 'not_positive'],
    ['0.000', 18, 'not_positive'],
    ['0e9', 18, 'not_positive'],
    ['-0', 18, 'not_positive'],
    ['-1', 18, 'not_positive'],
    ['-1e-3', 18, 'not_positive'],
    ['0.0000000001', 9, 'too_many_decimals'],
    ['1e-19', 18, 'too_many_decimals'],
    ['1.5', 0, 'too_many_decimals'],
    ['1e60', 18, 'too_large'],
    [(MAX_ATOMIC + 1n).toString(), 0, 'too_large'],
    ['NaN', 18, 'not_a_decimal'],
    ['Infinity', 18, 'not_a_decimal'],
    ['', 18, 'not_a_decimal'],
    [' 1', 18, 'not_a_decimal'],
    ['1 ', 18, 'not_a_decimal'],
    ['1\n', 18, 'not_a_decimal'],
    ['+1', 18, 'not_a_decimal'],
    ['.5', 18, 'not_a_decimal'],
    ['5.', 18, 'not_a_decimal'],
    ['01', 18, 'not_a_decimal'],
    ['1,5', 18, 'not_a_decimal'],
    ['1_000', 18, 'not_a_decimal'],
    ['0x10', 18, 'not_a_decimal'],
    ['١', 18, 'not_a_decimal'],
    ['1e', 18, 'not_a_decimal'],
    ['1e1.5', 18, 'not_a_decimal'],
    ['1e999999999', 18, 'not_a_decimal'],
    ['1e-999999999', 18, 'not_a_decimal'],
    ['1'.repeat(101), 18, 'not_a_decimal'],
    [`0.${'0'.repeat(100_000)}1`, 18, 'not_a_decimal'],
  ])('refuses %s with %i decimals as %s', (text, decimals, problem) => {
    expect(parseAmount(text, decimals)).toEqual({ ok: false, problem })
  })

  test('reads the largest amount that fits', () => {
    expect(parseAmount(MAX_ATOMIC.toString(), 0)).toEqual({ ok: true, atomic: MAX_ATOMIC })
  })
})

test('formatAmount spells a negative difference and zero', () => {
  expect(formatAmount(-1_500_000_000n, 9)).toBe('-1.5')
  expect(formatAmount(-1n, 18)).toBe('-0.000000000000000001')
  expect(formatAmount(0n, 9)).toBe('0')
  expect(formatAmount(120n, 0)).toBe('120')
})

test('every problem is told in a sentence with what was received', () => {
  for (const problem of [
    'not_a_decimal',
    'not_positive',
    'too_many_decimals',
    'too_large',
  ] as const) {
    expect(describeAmountProblem(problem, '1e-19', 9)).toMatch(/^Expected .*, received 1e-19\.$/)
  }
})

describe('the largest amount', () => {
  const largest = 115792089237316195423570985008687907853269984665640564039457584007913129639935n

  test('is that of 256 bits', () => {
    expect(MAX_ATOMIC).toBe(largest)
  })

  test.each([
    ['without decimals', '', 0],
    ['with decimals that are all zero', '.0', 0],
  ])('is an amount, and one more is not, %s', (_, zeros, decimals) => {
    expect(parseAmount(`${largest}${zeros}`, decimals)).toEqual({ ok: true, atomic: largest })
    expect(parseAmount(`${largest + 1n}${zeros}`, decimals)).toEqual({
      ok: false,
      problem: 'too_large',
    })
  })
})

test.each<[AmountProblem, string]>([
  ['not_a_decimal', 'Expected a decimal number, received x.'],
  ['not_positive', 'Expected an amount above 0, received x.'],
  ['too_many_decimals', 'Expected at most 9 decimals, received x.'],
  ['too_large', 'Expected an amount that fits 256 bits, received x.'],
])('%s is described by what was expected and received', (problem, described) => {
  expect(describeAmountProblem(problem, 'x', 9)).toBe(described)
})
