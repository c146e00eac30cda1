import { expect, test } from 'vitest'
import type { Role } from '#contract/role.ts'
import { quotedShare, refundRights } from './refund.ts'

const quote = { amount: '12.50', currency: 'EUR' }
const whole = 4_342_330_000_000_000n

test('half of a payment of €12.50 is told as €6.25, whatever it is worth now', () => {
  expect(quotedShare(quote, whole / 2n, whole)).toBe('6.25')
  expect(quotedShare(quote, whole, whole)).toBe('12.5')
})

test('the share of a quoted price is rounded down to the digits of its currency', () => {
  expect(quotedShare(quote, whole / 3n, whole)).toBe('4.16')
  expect(quotedShare(quote, whole - 1n, whole)).toBe('12.49')
  expect(quotedShare(quote, 1n, whole)).toBe('0')
  expect(quotedShare({ amount: '1000', currency: 'JPY' }, 1n, 3n)).toBe('333')
})

const payment = {
  refundOf: null,
  status: 'confirmed',
  direction: 'received',
  sender: 'buyer',
  recipient: 'seller',
} as const
const signedIn = (role: Role | null, ...wallets: string[]) => ({ role, wallets, expiresAt: 1 })

test('a refund is offered to operators and to the wallet that was paid, and to nobody else', () => {
  const may = (...[words, session]: Parameters<typeof refundRights>) =>
    refundRights(words, session).mayRefund
  expect(may(payment, signedIn('operator', 'desk'))).toBe(true)
  expect(may(payment, signedIn(null, 'seller'))).toBe(true)
  expect(may(payment, signedIn('viewer', 'desk'))).toBe(false)
  expect(may(payment, signedIn(null, 'buyer'))).toBe(false)
  expect(may(payment, null)).toBe(false)
  for (const other of [
    { status: 'pending' },
    { status: 'rolled_back' },
    { refundOf: 'pay_1' },
    { direction: 'sent' },
  ] as const)
    expect(may({ ...payment, ...other }, signedIn('owner', 'desk')), JSON.stringify(other)).toBe(
      false,
    )
})
