import * as v from 'valibot'
import { expect, test } from 'vitest'
import { examples } from '#service/openapi/examples.ts'
import { PaymentEvent, SocketMessage, SocketRequest } from './event.ts'
import { LosslessNumber, parseJson, stringifyJson } from './json.ts'
import { PaymentStatusBody } from './payment-body.ts'

const payment = {
  ...examples.paymentStatus.reply,
  amount: new LosslessNumber('0.123456789012345678'),
  amountAtomic: '123456789012345678',
  fee: {
    amount: new LosslessNumber('0.000021'),
    amountAtomic: '21000000000000',
    payer: null,
    ofTransaction: true,
  },
  metadata: { weight: new LosslessNumber('0.10') },
}

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
