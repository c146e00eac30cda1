import { expect, test } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import { waitOf } from './wait.ts'

const dataUpdatedAt = 1_000_000

const refund = { state: 'none', refundedAtomic: '0', pendingAtomic: '0' } as const
const payment = { status: 'pending', draft: false, refund } as const
const read = (data: Parameters<typeof waitOf>[0]['data'], error: unknown = null) =>
  waitOf({ data, error, dataUpdatedAt })

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

test('the wait is over when a paid payment has not bought the file after several readings', () => {
  const paid = { data: { ...payment, status: 'confirmed' }, error: null, dataUpdatedAt } as const
  const fileAfter = (seconds: number, bought = false) => ({
    data: { paid: bought },
    dataUpdatedAt: dataUpdatedAt + seconds * 1_000,
  })
  expect(waitOf(paid, fileAfter(2)).kind).toBe('waiting')
  expect(waitOf(paid, fileAfter(6)).kind).toBe('unrelated')
  // A reading that failed, or is old, says nothing.
  expect(waitOf(paid, { data: undefined, dataUpdatedAt: 0 }).kind).toBe('waiting')
  expect(waitOf(paid, fileAfter(-60)).kind).toBe('waiting')
  const pending = { ...paid, data: payment }
  expect(waitOf(pending, fileAfter(60))).toEqual({ kind: 'waiting', paid: false })
})
