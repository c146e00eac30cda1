import { expect, test } from 'vitest'
import { canCancel, reduce, type PaymentState } from './machine.ts'
import { TestDependencies } from './testing/test-dependencies.ts'

/** On EVM a wallet sends what it signs, unless it is asked to sign a message: then nothing can have left, and nothing is unknown. */

function awaiting(signedOnly: boolean): PaymentState {
  const order = {
    ...new TestDependencies('evm').order(),
    ...(signedOnly && { signedOnly: true as const }),
  }
  return { step: 'awaiting_wallet', attempt: 1, order, since: 0 } as PaymentState
}

test('a lost answer about a message leaves nothing open', () => {
  const next = reduce(awaiting(true), { type: 'wallet_lost' })
  expect(next).toMatchObject({ step: 'rejected', userError: { code: 'WALLET_LOST' } })
  expect(canCancel(awaiting(true))).toBe(true)
})

test('a lost answer about a transaction is unknown', () => {
  expect(reduce(awaiting(false), { type: 'wallet_lost' })).toMatchObject({
    step: 'unknown',
    reason: 'wallet_lost',
  })
  expect(canCancel(awaiting(false))).toBe(false)
})
