import { expect, test } from 'vitest'
import type { PaymentStatus } from '#contract/payment.ts'
import type { PaymentRow, PaymentStatusBody } from '#contract/payment-body.ts'
import { statusBody } from '#testing/status-body.ts'
import {
  matchesFilter,
  newArrivals,
  newerPayment,
  updateRow,
  type PaymentListView,
} from './merge-payment.ts'
import { shownStatus } from '../ui/status-words.ts'
import type { PaymentPage } from './queries.ts'

const me = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const other = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const path: PaymentStatus[] = ['created', 'pending', 'confirmed', 'finalized']

function payment(change: Partial<PaymentStatusBody> = {}): PaymentStatusBody {
  const status = change.status ?? 'pending'
  return statusBody({
    paymentId: 'pay_1',
    signature: '0xabc',
    status,
    network: 'eip155:31337',
    amount: '1',
    amountAtomic: '1000000000000000000',
    blockHeight: null,
    blockTime: null,
    confirmations: 0,
    fee: null,
    sender: other,
    recipient: me,
    resource: null,
    metadata: null,
    timestamp: 1000,
    events: path
      .slice(0, path.indexOf(status) + 1)
      .map((each, index) => ({ status: each, at: index, blockHeight: null, source: 'service' })),
    ...change,
  })
}

function row(paymentId: string, timestamp: number): PaymentRow {
  const {
    amount,
    amountAtomic,
    network,
    asset,
    symbol,
    decimals,
    sender,
    recipient,
    resource,
    metadata,
    refundOf,
    refund,
    draft,
  } = payment()
  return {
    paymentId,
    confirmedAt: null,
    blockTime: null,
    fee: null,
    refundReason: null,
    type: 'received',
    mode: 'local',
    amount,
    amountAtomic,
    network,
    asset,
    symbol,
    decimals,
    sender,
    recipient,
    resource,
    status: 'pending',
    signature: null,
    timestamp,
    metadata,
    refundOf,
    refund,
    draft,
  }
}

const page = (...rows: PaymentRow[]): PaymentPage => ({
  success: true,
  total: rows.length,
  limit: 50,
  offset: 0,
  nextCursor: null,
  restoredAt: null,
  payments: rows,
})
const matches = (
  what: PaymentStatusBody,
  viewer: PaymentListView['viewer'],
  filter: PaymentListView['filter'],
) => matchesFilter(what, { viewer, filter, zone: 'utc', now: 1000 })

test('news in any order ends in the latest state', () => {
  const confirmed = payment({ status: 'confirmed', confirmations: 3 })
  expect(newerPayment(undefined, confirmed)).toBe(confirmed)
  expect(newerPayment(confirmed, payment({ status: 'pending' }))).toBe(confirmed)
  expect(newerPayment(payment({ status: 'pending' }), confirmed)).toBe(confirmed)
  const deeper = payment({ status: 'confirmed', confirmations: 9 })
  expect(newerPayment(deeper, confirmed)).toBe(deeper)
})

test('a rolled back payment overtakes its confirmation although its confirmations fell', () => {
  const confirmed = payment({ status: 'confirmed', confirmations: 3 })
  const back = payment({
    status: 'rolled_back',
    confirmations: 0,
    events: [
      ...confirmed.events,
      { status: 'rolled_back', at: 9, blockHeight: 7, source: 'watcher' },
    ],
  })
  expect(newerPayment(confirmed, back)).toBe(back)
})

test('a row gets its new status in place; a list without it stays the very same', () => {
  const list = page(row('pay_2', 2000), row('pay_1', 1000))
  const updated = updateRow(list, payment({ status: 'confirmed' }))
  expect(updated?.payments.map(({ paymentId, status }) => [paymentId, status])).toEqual([
    ['pay_2', 'pending'],
    ['pay_1', 'confirmed'],
  ])
  expect(updateRow(list, payment({ paymentId: 'pay_9' }))).toBe(list)
})

test('a row has the time of the confirmation that counts, none while it is dropped, as the service lists it', () => {
  const event = (status: PaymentStatus, at: number) =>
    ({ status, at, blockHeight: null, source: 'watcher' }) as const
  const known = page({ ...row('pay_1', 1000), status: 'confirmed', confirmedAt: 2 })
  const dropped = [...payment({ status: 'confirmed' }).events, event('rolled_back', 9)]
  const at = (status: PaymentStatus, events: PaymentStatusBody['events']) =>
    updateRow(known, payment({ status, events }))?.payments[0]?.confirmedAt
  expect(at('rolled_back', dropped)).toBe(null)
  const again = [...dropped, event('confirmed', 20), event('finalized', 30)]
  expect(at('finalized', again)).toBe(20)
})

test('a refunded payment says so in its row', () => {
  const refund = { state: 'partial', refundedAtomic: '1', pendingAtomic: '0' } as const
  const updated = updateRow(page(row('pay_1', 1000)), payment({ status: 'finalized', refund }))
  expect(updated?.payments[0]?.refund).toEqual(refund)
  expect(updated?.payments.map(shownStatus)).toEqual(['partly_refunded'])
  expect(
    shownStatus({ status: 'finalized', draft: false, refund: { ...refund, state: 'full' } }),
  ).toBe('refunded')
  // What the chain has undone is told first.
  expect(shownStatus({ status: 'rolled_back', draft: false, refund })).toBe('rolled_back')
})

test('an arrival is offered only to a list it belongs to', () => {
  const mine = { wallets: [me] }
  expect(matches(payment(), mine, {})).toBe(true)
  expect(
    matches(payment(), mine, { type: 'received', network: 'eip155:31337', status: 'pending' }),
  ).toBe(true)
  expect(matches(payment(), mine, { type: 'sent' })).toBe(false)
  expect(matches(payment(), mine, { status: 'confirmed' })).toBe(false)
  expect(matches(payment(), mine, { network: 'eip155:1' })).toBe(false)
  expect(matches(payment(), { wallets: ['0x0'] }, {})).toBe(false)
  expect(matches(payment(), { wallets: 'all' }, { type: 'received' })).toBe(true)
})

test('an arrival has the direction that the service says, whatever its mode', () => {
  const returned = payment({ direction: 'sent', mode: 'local' })
  expect(matches(returned, { wallets: 'all' }, { type: 'received' })).toBe(false)
  expect(matches(returned, { wallets: 'all' }, { type: 'sent' })).toBe(true)
  expect(
    matches(payment({ direction: 'internal' }), { wallets: 'all' }, { type: 'received' }),
  ).toBe(false)
  expect(
    matches(payment({ direction: 'internal' }), { wallets: 'all' }, { type: 'internal' }),
  ).toBe(true)
  expect(
    matches(
      payment({ mode: 'hosted', direction: 'received' }),
      { wallets: 'all' },
      { type: 'received' },
    ),
  ).toBe(true)
})

test('an arrival between two wallets of the viewer is internal, not received', () => {
  const { sender, recipient } = payment()
  const both = { wallets: [sender, recipient] }
  expect(matches(payment(), both, { type: 'received' })).toBe(false)
  expect(matches(payment(), both, { type: 'internal' })).toBe(true)
})

test('a draft of a visitor is no arrival in any list', () => {
  for (const filter of [
    {},
    { type: 'received' },
    { status: 'created' },
    { status: 'incomplete' },
  ] as const) {
    expect(matches(payment({ status: 'created', draft: true }), { wallets: 'all' }, filter)).toBe(
      false,
    )
  }
})

test('a filter of several statuses, an asset or a time takes what it names', () => {
  expect(matches(payment(), { wallets: 'all' }, { status: 'created,pending' })).toBe(true)
  expect(matches(payment(), { wallets: 'all' }, { status: 'failed,expired' })).toBe(false)
  expect(matches(payment(), { wallets: 'all' }, { asset: 'eth' })).toBe(true)
  expect(matches(payment(), { wallets: 'all' }, { asset: 'SOL' })).toBe(false)
  expect(matches(payment(), { wallets: 'all' }, { when: 'today' })).toBe(true)
  expect(matches(payment(), { wallets: 'all' }, { to: '1969-12-31' })).toBe(false)
})

test('a text search, which only the service can answer, gets no arrivals', () => {
  expect(matches(payment(), { wallets: 'all' }, { q: 'water' })).toBe(false)
})

test('an old payment with a new status is no new payment', () => {
  const rows = [row('pay_5', 5000)]
  const view = { viewer: { wallets: 'all' }, filter: {}, zone: 'utc', now: 7000 } as const
  const arrivals = [
    payment({ paymentId: 'pay_6', timestamp: 6000 }),
    payment({ paymentId: 'pay_5', timestamp: 5000 }),
    payment({ paymentId: 'pay_1', timestamp: 1000 }),
  ]
  expect(newArrivals(arrivals, rows, view).map(({ paymentId }) => paymentId)).toEqual(['pay_6'])
  expect(newArrivals(arrivals, [], view)).toHaveLength(3)
})
