import { expect, test } from 'vitest'
import { capKey, findBreach, setCap } from './caps.ts'

const key = capKey('eip155:1', '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE')

test('a payment over its cap is named with what is still allowed', () => {
  expect(findBreach(key, 10n ** 30n, 0n)).toBeUndefined()
  setCap(key, { perPayment: '100', perDay: '150' })
  expect(findBreach(key, 100n, 0n)).toBeUndefined()
  expect(findBreach(key, 101n, 0n)).toEqual({
    limit: 'per_payment',
    capAtomic: 100n,
    leftAtomic: 100n,
  })
  expect(findBreach(key, 60n, 90n)).toBeUndefined()
  expect(findBreach(key, 61n, 90n)).toEqual({ limit: 'per_day', capAtomic: 150n, leftAtomic: 60n })
  expect(findBreach(key, 1n, 400n)).toEqual({ limit: 'per_day', capAtomic: 150n, leftAtomic: 0n })
})

test('a cap of zero lets nothing out, a lifted one everything, and an undo puts it back', () => {
  setCap(key, { perPayment: '0' })
  expect(findBreach(key, 1n, 0n)?.leftAtomic).toBe(0n)
  const undo = setCap(key, {})
  expect(findBreach(key, 10n ** 30n, 0n)).toBeUndefined()
  undo()
  expect(findBreach(key, 1n, 0n)?.limit).toBe('per_payment')
})

test('an undo puts one cap back, and leaves the others as they are by then', () => {
  const other = capKey('eip155:1', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')
  setCap(key, { perPayment: '1' })
  const undo = setCap(key, {})
  setCap(other, { perPayment: '5' })
  undo()
  expect(findBreach(key, 2n, 0n)?.capAtomic).toBe(1n)
  expect(findBreach(other, 6n, 0n)?.capAtomic).toBe(5n)
})
