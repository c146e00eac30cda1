import { expect, test } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import { waitOf } from './wait.ts'

const refund = { state: 'none', refundedAtomic: '0', pendingAtomic: '0' } as const
const payment = { status: 'pending', draft: false, refund } as const
const read = (data: Parameters<typeof waitOf>[0]['data'], error: unknown = null) =>
  waitOf({ data, error })

test('a buyer waits while the payment may still buy the file', () => {
  expect(read(undefined)).toEqual({ kind: 'waiting', paid: false })
  expect(read(undefined, new ApiError({ code: 'OFFLINE' })).kind).toBe('waiting')
  for (const status of ['created', 'pending', 'rolled_back'] as const)
    expect(read({ ...payment, status })).toEqual({ kind: 'waiting', paid: false })
  expect(read({ ...payment, status: 'confirmed' })).toEqual({ kind: 'waiting', paid: true })
  const partly = { ...refund, state: 'partial' } as const
  expect(read({ ...payment, status: 'confirmed', refund: partly }).kind).toBe('waiting')
})

test('the wait is over when the payment failed, expired or was refunded in full', () => {
  for (const status of ['failed', 'expired'] as const)
    expect(read({ ...payment, status })).toEqual({ kind: 'over', status })
  const full = { ...refund, state: 'full' } as const
  expect(read({ ...payment, status: 'finalized', refund: full })).toEqual({
    kind: 'over',
    status: 'refunded',
  })
})

test('nobody waits for a payment that the session may not read', () => {
  for (const code of ['NOT_FOUND', 'UNAUTHORIZED', 'INVALID_PARAMETERS'] as const)
    expect(read(payment, new ApiError({ code })), code).toEqual({ kind: 'unseen' })
})
