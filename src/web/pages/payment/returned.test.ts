import { expect, test } from 'vitest'
import type { PaymentRow } from '#contract/payment-body.ts'
import { countReturned } from './returned.ts'

const payment = {
  paymentId: 'pay_1',
  sender: 'buyer',
  recipient: 'seller',
  network: 'eip155:1',
  asset: 'eth',
  amountAtomic: '100',
}
const back = (amountAtomic: string, change: Partial<PaymentRow> = {}): PaymentRow => ({
  paymentId: `pay_${amountAtomic}`,
  type: 'sent',
  mode: 'local',
  amount: amountAtomic,
  amountAtomic,
  network: 'eip155:1',
  asset: 'eth',
  symbol: 'ETH',
  decimals: 18,
  sender: 'seller',
  recipient: 'buyer',
  resource: null,
  status: 'finalized',
  signature: null,
  timestamp: 1,
  confirmedAt: 2,
  blockTime: null,
  fee: null,
  refundReason: null,
  metadata: null,
  refundOf: 'pay_1',
  refund: { state: 'none', refundedAtomic: '0', pendingAtomic: '0' },
  draft: false,
  ...change,
})

test('what arrived and what is under way is gone; what never left is not', () => {
  const rows = [
    back('10'),
    back('20', { status: 'pending' }),
    back('5', { status: 'rolled_back' }),
    back('40', { status: 'expired' }),
    back('30', { status: 'created' }),
  ]
  expect(countReturned(payment, rows)).toMatchObject({
    paidAtomic: 10n,
    underWayAtomic: 25n,
    leftAtomic: 65n,
  })
})

test('only the same asset between the same two counts', () => {
  const foreign = [
    back('1', { refundOf: 'pay_2' }),
    back('2', { recipient: 'someone' }),
    back('3', { sender: 'someone' }),
    back('4', { asset: 'usdc' }),
    back('5', { network: 'eip155:2' }),
    back('6', { refundOf: null, metadata: { refundOf: 'pay_1' } }),
  ]
  expect(countReturned(payment, foreign)).toMatchObject({ returns: [], leftAtomic: 100n })
})

test('more than was received leaves nothing, never less than nothing', () => {
  expect(countReturned(payment, [back('70'), back('60')]).leftAtomic).toBe(0n)
})
