import { expect, test } from 'vitest'
import type { HostedIntent } from '#contract/hosted-intent.ts'
import { isOut, reduceHosted, type HostedEvent, type HostedState } from './machine.ts'

const intent: HostedIntent = {
  nonce: 'n',
  network: 'eip155:1',
  from: 'a',
  to: 'b',
  asset: 'c',
  symbol: 'ETH',
  decimals: 18,
  amountAtomic: '1',
  priorityFee: '',
  resource: '',
  description: '',
  reference: '',
  refundOf: '',
  expiresAt: 1,
}
const userError = { code: 'X', title: 'x', body: 'y' }
const events: HostedEvent[] = [
  { type: 'prepare' },
  { type: 'not_prepared', userError },
  { type: 'prepared', intent },
  { type: 'sign' },
  { type: 'not_signed', userError },
  { type: 'signed', signature: 's' },
  { type: 'sent', paymentId: 'p' },
  { type: 'no_answer' },
  { type: 'refused', userError },
  { type: 'unanswered', why: 'restored' },
  { type: 'change' },
]

test('once a signature may be out, only the proxy’s own word ends it: no order of other events leads to another signature', () => {
  const out: HostedState[] = [
    { step: 'sending', intent, signature: 's' },
    { step: 'unknown', intent, signature: 's' },
  ]
  const word = new Set<HostedEvent['type']>(['sent', 'refused', 'unanswered'])
  for (const start of out) {
    for (const event of events) {
      const next = reduceHosted(start, event)
      if (word.has(event.type)) expect(isOut(next)).toBe(false)
      else expect(next).toMatchObject({ signature: 's', intent })
    }
  }
})

test('the whole way, and the way back from a refusal of the wallet', () => {
  const way: HostedEvent[] = [
    { type: 'prepare' },
    { type: 'prepared', intent },
    { type: 'sign' },
    { type: 'not_signed', userError },
    { type: 'sign' },
    { type: 'signed', signature: 's' },
    { type: 'no_answer' },
    { type: 'sent', paymentId: 'p' },
  ]
  const start: HostedState = { step: 'form', userError: null }
  expect(way.reduce(reduceHosted, start)).toEqual({ step: 'sent', intent, paymentId: 'p' })
})

test('a late answer changes nothing where nobody waits for it', () => {
  const form: HostedState = { step: 'form', userError: null }
  for (const event of events.filter(({ type }) => type !== 'prepare' && type !== 'change'))
    expect(reduceHosted(form, event)).toBe(form)
})
