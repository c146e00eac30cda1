import { expect, test } from 'vitest'
import { PAYMENT_STATUSES } from '#contract/payment.ts'
import { directionWords } from './direction-words.ts'

test('only what arrived is called received or sent', () => {
  const told = (word: string) => PAYMENT_STATUSES.filter((status) => (['received', 'sent'] as const).some((type) => directionWords({ type, status }) === word))
  expect(told('Received')).toEqual(['confirmed', 'finalized'])
  expect(told('Sent')).toEqual(['confirmed', 'finalized'])
  expect(told('Not received')).toEqual(told('Not paid'))
  expect(told('Not received')).not.toContain('pending')
})
