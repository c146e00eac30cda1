import { expect, test } from 'vitest'
import { PAYMENT_STATUSES } from '#contract/payment.ts'
import { directionWords } from './Direction.tsx'

test('only what arrived is called received or sent', () => {
  const told = (word: string) =>
    PAYMENT_STATUSES.filter((status) =>
      (['received', 'sent'] as const).some(
        (type) => directionWords({ type, status, draft: false, refundOf: null }) === word,
      ),
    )
  expect(told('Received')).toEqual(['confirmed', 'finalized'])
  expect(told('Sent')).toEqual(['confirmed', 'finalized'])
  expect(told('Not received')).toEqual(told('Not paid'))
  expect(told('Not received')).not.toContain('pending')
})

test('what moves between own wallets, or between others, is never called received or sent', () => {
  for (const status of PAYMENT_STATUSES) {
    expect(directionWords({ type: 'internal', status, draft: false, refundOf: null })).toBe(
      'Internal',
    )
    expect(directionWords({ type: 'external', status, draft: false, refundOf: null })).toBe(
      'Between others',
    )
  }
})

test('a draft is incomplete, never incoming', () => {
  for (const status of PAYMENT_STATUSES)
    expect(directionWords({ type: 'received', status, draft: true, refundOf: null })).toBe(
      'Incomplete',
    )
})

test('a refund is called a refund, from before its signature to its failure', () => {
  for (const status of PAYMENT_STATUSES)
    for (const type of ['sent', 'received', 'internal', 'external'] as const)
      expect(directionWords({ type, status, draft: false, refundOf: 'pay_1' })).toBe('Refund')
})
