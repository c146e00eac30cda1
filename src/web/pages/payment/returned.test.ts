import { expect, test } from 'vitest'
import type { PaymentRow } from '#contract/payment-body.ts'
import { refundsAmong } from './returned.ts'

const payment = {
  paymentId: 'pay_1',
  sender: 'buyer',
  network: 'eip155:1',
  asset: 'eth',
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

const idsOf = (rows: readonly PaymentRow[]) =>
  refundsAmong(payment, rows).map(({ paymentId }) => paymentId)

test('what arrived, what is under way and what a wallet may still send is listed, from whichever wallet; what expired is not', () => {
  const rows = [
    back('10'),
    back('20', { status: 'pending' }),
    back('5', { status: 'rolled_back' }),
    back('7', { sender: 'till' }),
    back('40', { status: 'expired' }),
    back('30', { status: 'created' }),
    // It expires by itself, or is signed by the service.
    back('31', { status: 'created', mode: 'hosted' }),
  ]
  expect(idsOf(rows)).toEqual(['pay_10', 'pay_20', 'pay_5', 'pay_7', 'pay_30'])
})

test('only the same asset to the payer counts', () => {
  const foreign = [
    back('1', { refundOf: 'pay_2' }),
    back('2', { recipient: 'someone' }),
    back('4', { asset: 'usdc' }),
    back('5', { network: 'eip155:2' }),
    back('6', { refundOf: null, metadata: { refundOf: 'pay_1' } }),
  ]
  expect(idsOf(foreign)).toEqual([])
})
