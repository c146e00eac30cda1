import { expect, test } from 'vitest'
import { upTo } from '../../payment-intent/fact-values.ts'
import { formatWorth } from '../Worth.tsx'
import { formatTotal } from './TotalWorth.tsx'

const usdc = { symbol: 'USDC', decimals: 6 }
const sol = { symbol: 'SOL', decimals: 9 }
const rates = { USDC: '1.001', SOL: '151.2' }
/** 5,000 lamports. */
const fee = { atomic: 5_000n, asset: sol }

test('a token and its fee in another currency are worth their sum, rounded up once', () => {
  // 10.01 + 0.000756: two figures that are each rounded up would be worth a cent more with other digits.
  expect(formatTotal({ atomic: 10_000_000n, asset: usdc }, 'USD', rates)).toBe('about $10.01')
  expect(formatTotal({ atomic: 10_000_000n, asset: usdc, fee }, 'USD', rates)).toBe('about $10.02')
  expect(formatTotal({ atomic: 9_990_000n, asset: usdc, fee }, 'USD', rates)).toBe('about $10.01')
})

test('a quoted price is part of the total as it was quoted', () => {
  const quote = { amount: '12.5', currency: 'USD' }
  expect(formatTotal({ atomic: 13_000_000n, asset: usdc, fee, quote }, 'USD', rates)).toBe(
    'about $12.51',
  )
})

test('nothing is told where a part has no rate, or where nothing is paid', () => {
  expect(formatTotal({ atomic: 1n, asset: usdc, fee }, 'USD', { USDC: '1' })).toBeUndefined()
  expect(formatTotal({ atomic: 1n, asset: usdc, fee }, 'USD', { SOL: '1' })).toBeUndefined()
  expect(formatTotal({ atomic: 0n, asset: usdc }, 'USD', rates)).toBeUndefined()
})

test('what is worth less than the smallest coin is told as less, and nothing as nothing', () => {
  const rate = { rate: '150', currency: 'USD' }
  expect(formatTotal(fee, 'USD', rates)).toBe('less than $0.01')
  expect(formatWorth(66_666n, 9, rate)).toBe('less than $0.01')
  expect(formatWorth(1_000_000n, 9, { ...rate, rate: '10' })).toBe('about $0.01')
  expect(formatWorth(5_000n, 9, { ...rate, rounded: upTo })).toBe('less than $0.01')
  expect(formatWorth(66_667n, 9, { ...rate, rounded: upTo })).toBe('up to $0.02')
  expect(formatWorth(5_000n, 9, { rate: '150', currency: 'JPY' })).toBe('less than ¥1')
  expect(formatWorth(0n, 9, rate)).toBe('$0.00')
})
