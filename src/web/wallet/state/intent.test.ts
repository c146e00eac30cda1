import { expect, test } from 'vitest'
import { solanaIntent } from '#testing/chain-payments.ts'
import { toPaymentIntent } from './intent.ts'

const { paymentId, maxFeeAtomic, ...payment } = solanaIntent
const order = { ...payment, id: 'order', createdAt: 0, walletName: 'Phantom' }
const attempt = { paymentId, maxFeeAtomic }

test('what the chains compare is what the person requested', () => {
  expect(toPaymentIntent(order, attempt)).toEqual(solanaIntent)
})

test('the account that pays the network fee for the sender is part of it', () => {
  const feePayer = '98jmNurpJPD6G1i9PEbSTzBEcKBQfeN88P1YLzfSV9wA'
  expect(toPaymentIntent({ ...order, feePayer }, attempt)).toEqual({ ...solanaIntent, feePayer })
})
