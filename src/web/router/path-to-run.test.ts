import { expect, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import { pathToRun } from './path-to-run.ts'

const order = { id: 'order-1', network: 'eip155:31337', asset: NATIVE_ETH } as const
const link = { text: '2NEpo7TZRhna', setBy: 'Shop', returnUrl: null }
const open = { amount: false, description: false, reference: false, asset: true }

test('a payment that was begun is found on the page where it was begun', () => {
  expect(pathToRun(order)).toBe('/pay?payment=order-1')
  expect(pathToRun({ ...order, refundOf: 'pay_1' })).toBe('/refund/pay_1?payment=order-1')
})

test('a payment of a link goes on at its link, in its currency and quantity', () => {
  expect(pathToRun({ ...order, link })).toBe('/pay/2NEpo7TZRhna?payment=order-1')
  const choice = { token: null, pieces: 3, open }
  const [path, query] = pathToRun({ ...order, link: { ...link, choice } }).split('?')
  expect(path).toBe('/pay/2NEpo7TZRhna')
  expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
    payment: 'order-1',
    network: 'eip155:31337',
    asset: NATIVE_ETH.address,
    pieces: '3',
  })
})
