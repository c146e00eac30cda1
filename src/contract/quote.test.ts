import { describe, expect, test } from 'vitest'
import {
  amountAtRate,
  differByMore,
  divideRates,
  isLate,
  isOutrun,
  priceOf,
  quoteOf,
  worthAtRate,
} from './quote.ts'

const quote = {
  currency: 'EUR',
  amount: '25',
  rate: '3000',
  source: 'fixed',
  round: null,
  observedAt: 1000,
  quotedAt: 2000,
  expiresAt: 902_000,
}

describe('the amount of a price', () => {
  test.each([
    ['12.50', '2500', 18, 1, 5_000_000_000_000_000n],
    ['1', '3', 6, 1, 333_334n],
    ['1', '3', 6, 3, 1_000_000n],
    ['0.01', '100000000', 6, 1, 1n],
    ['0.1', '0.3', 0, 1, 1n],
    // 0.004342322287854977… becomes 0.00434233, and 10,000 times that with two digits more.
    ['12.50', '2878.644', 18, 1, 4_342_330_000_000_000n],
    ['10000', '2878.644', 18, 1, 3_473_857_840_000_000_000n],
    ['0.0005', '2878.644', 18, 1, 173_693_000_000n],
    ['9007199254740993', '1', 6, 1, 9_007_199_254_740_993_000_000n],
  ])('%s at %s with %i decimals, %i pieces', (price, rate, decimals, pieces, expected) => {
    expect(amountAtRate(price, rate, { pieces, decimals })).toBe(expected)
  })

  test.each([6, 18])(
    'is never worth less than the price; with %i decimals, more by less than 0.0001 of the currency and a 100,000th of the price, or than an atomic unit',
    (decimals) => {
      const unit = 10n ** BigInt(decimals)
      let digits = 0
      for (let seed = 1n; seed < 3000n; seed++) {
        const price = `${(seed * 7919n) % 977n}.${((seed * 104_729n) % 9973n) + 1n}`
        const rate = `${(seed * 15_485_863n) % 4999n}.${((seed * 32_452_843n) % 99_991n) + 1n}`
        const atomic = amountAtRate(price, rate, { pieces: 1, decimals })
        const [p, r] = [scale(price), scale(rate)]
        const more = atomic * r - p * unit
        expect(more >= 0n).toBe(true)
        const isLittle = more * 10_000n < 10n ** 18n * unit && more * 100_000n < p * unit
        expect(isLittle || (decimals === 6 && more < r)).toBe(true)
        digits = Math.max(digits, atomic.toString().replace(/0+$/, '').length)
      }
      expect(digits).toBeLessThanOrEqual(9)
    },
  )

  test.each([
    ['0', '1'],
    ['1', '0'],
    ['-1', '1'],
    ['1', 'NaN'],
    ['1', '1e999'],
  ])('is refused for the price %s at %s', (price, rate) => {
    expect(() => amountAtRate(price, rate, { pieces: 1, decimals: 18 })).toThrow(RangeError)
  })
})

test('a rate over two pairs is rounded down, so that more of the asset is asked for', () => {
  expect(divideRates('2000', '3')).toBe('666.666666666666666666')
  expect(() => divideRates('0.000000000000000001', '2')).toThrow(RangeError)
})

test('rates differ by their share of the smaller one, to the last digit', () => {
  expect(differByMore('100', '102', '2')).toBe(false)
  expect(differByMore('102', '100', '2')).toBe(false)
  expect(differByMore('100', '102.000000000000000001', '2')).toBe(true)
})

test('with 0 %, rates must be equal', () => {
  for (const percent of ['0', '0.00']) {
    expect(differByMore('100', '100.0', percent)).toBe(false)
    expect(differByMore('100', '100.000000000000000001', percent)).toBe(true)
  }
})

test('a quote ends when the rate has fallen by more than 2 % of the quoted one, and never for a rise', () => {
  expect(isOutrun('2500', '2450')).toBe(false)
  expect(isOutrun('2500', '2449.999999999999999999')).toBe(true)
  // It fell by 1.961 %; the quoted rate is 2 % above it.
  expect(isOutrun('2500', '2450.98')).toBe(false)
  expect(isOutrun('100', '150')).toBe(false)
})

test('several pieces cost the exact multiple', () => {
  expect(priceOf('0.1', 3)).toBe('0.3')
})

test.each([
  // 0.00434233 ETH, and with a fee of a billionth.
  [4_342_330_000_000_000n, '2878.644833948339483394', 18, 2, '12.51'],
  [4_342_331_000_000_000n, '2878.644833948339483394', 18, 2, '12.51'],
  [1_500_000n, '1', 6, 2, '1.5'],
  [1n, '2878', 18, 2, '0.01'],
  [10n ** 18n, '151.2', 18, 0, '152'],
])(
  '%s units at %s are worth no less than what is told',
  (atomic, rate, decimals, digits, worth) => {
    expect(worthAtRate(atomic, rate, { decimals, digits })).toBe(worth)
  },
)

test('only a payment that landed after its quote is late', () => {
  expect(isLate(quote, undefined)).toBe(false)
  expect(isLate(quote, 902_000)).toBe(false)
  expect(isLate(quote, 902_001)).toBe(true)
})

test('a quote is read from metadata only when it is whole', () => {
  expect(quoteOf({ quote })).toEqual(quote)
  expect(quoteOf({ quote: { ...quote, amount: '25 ' } })).toBeUndefined()
  expect(quoteOf({ quote: 'x' })).toBeUndefined()
  expect(quoteOf(null)).toBeUndefined()
})

function scale(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(18, '0'))
}
