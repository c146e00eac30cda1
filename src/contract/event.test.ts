import * as v from 'valibot'
import { expect, test } from 'vitest'
import { PaymentEvent, SocketMessage, SocketRequest } from './event.ts'
import { LosslessNumber, parseJson, stringifyJson } from './json.ts'
import { PaymentStatusBody } from './payment-body.ts'

const payment = {
  success: true,
  paymentId: `pay_${'1'.repeat(22)}`,
  mode: 'local',
  direction: 'received',
  signature: null,
  status: 'confirmed',
  network: 'eip155:31337',
  asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
  symbol: 'ETH',
  decimals: 18,
  amount: new LosslessNumber('0.123456789012345678'),
  amountAtomic: '123456789012345678',
  sender: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  recipient: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  resource: null,
  blockHeight: 7,
  confirmations: 2,
  requiredConfirmations: 2,
  blockTime: null,
  fee: { amount: new LosslessNumber('0.000021'), amountAtomic: '21000000000000' },
  timestamp: 1_700_000_000_000,
  expiresAt: null,
  lastValidBlockHeight: 60,
  metadata: { weight: new LosslessNumber('0.10') },
  paymentProof: null,
  failure: null,
  refundOf: null,
  refund: { state: 'none', refundedAtomic: '0', pendingAtomic: '0' },
  draft: false,
  refundReason: null,
  refundNote: null,
  attribution: { evidence: null, missing: [], transfer: null, request: null, assigned: null },
  events: [{ status: 'created', at: 1_700_000_000_000, blockHeight: null, source: 'service' }],
} as const satisfies v.InferInput<typeof PaymentStatusBody>

test('an answer goes over the wire and back without losing a digit', () => {
  const read = v.parse(PaymentStatusBody, parseJson(stringifyJson(payment)))
  expect(read.amount).toBe('0.123456789012345678')
  expect(read.fee?.amount).toBe('0.000021')
  expect(stringifyJson(read.metadata)).toBe('{"weight":0.10}')
})

test('an event of the stream is a message of the socket', () => {
  const event = parseJson(stringifyJson({ ...payment, type: 'payment', id: '12' }))
  expect(v.is(PaymentEvent, event)).toBe(true)
  expect(v.parse(SocketMessage, event)).toMatchObject({
    type: 'payment',
    id: '12',
    status: 'confirmed',
  })
})

test.each([
  { method: 'authenticate', apiKey: 'x' },
  { method: 'subscribe', keys: ['a'] },
  { method: 'subscribe', keys: ['a'], since: '12' },
  { method: 'unsubscribe', keys: ['a'] },
])('a client may say %o, and nothing more', (message) => {
  expect(v.is(SocketRequest, message)).toBe(true)
  expect(v.is(SocketRequest, { ...message, extra: 1 })).toBe(false)
})

test.each([
  {},
  { method: 'publish' },
  { method: 'subscribe', keys: [] },
  { method: 'subscribe', keys: Array(51).fill('a') },
  { method: 'subscribe', keys: ['a'], since: '-1' },
  { method: 'subscribe', keys: ['a'], since: 1 },
])('a client may not say %o', (message) => {
  expect(v.is(SocketRequest, message)).toBe(false)
})
