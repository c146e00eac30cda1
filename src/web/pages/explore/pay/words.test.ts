import { describe, expect, test } from 'vitest'
import type { OutgoingState } from '../../../payment-flow/machine.ts'
import { TestDependencies } from '../../../payment-flow/testing/test-dependencies.ts'
import type { Way } from '../request/usable.ts'
import type { Purchase } from './purchase.ts'
import { progressOf } from './words.ts'

const header = { name: 'PAYMENT-SIGNATURE', value: 'eyJ9' } as const

function purchaseOf(way: Way, made: Purchase['header'] = null): Purchase {
  return { way, header: made } as Purchase
}

/** A transfer on its way, from its broadcast until just before it is confirmed. */
function unconfirmed(family: 'evm' | 'solana'): OutgoingState[] {
  const order = new TestDependencies(family).order()
  const landed = { signature: 'a', height: 1 }
  return [
    { step: 'broadcast', since: 0 },
    { step: 'submitted', landed: null, outcome: null },
    { step: 'submitted', landed, outcome: 'paid' },
  ].map((state) => ({ order, attempt: 1, sent: {}, ...state }) as OutgoingState)
}

describe('a page that alone can make the payment’s header', () => {
  test.each([
    ['transaction_then_proof', 'evm', 'Keep this page open: one signature follows.'],
    ['transaction', 'solana', 'Keep this page open: the request follows.'],
  ] as const)('asks to be kept open until it has (%s)', (way, family, words) => {
    for (const state of unconfirmed(family)) {
      expect(progressOf(state, purchaseOf(way)).body).toBe(words)
      expect(progressOf(state, purchaseOf(way, header)).body).toBe('You can close this page.')
    }
  })
})

test('what is signed and not sent yet is told as such, to the network or to the merchant', () => {
  const order = new TestDependencies('solana').order()
  const signed = { order, attempt: 1, sent: {}, step: 'signed' } as OutgoingState
  const unsent = 'Not sent yet. Trying again automatically.'
  for (const [way, body] of [
    ['transaction', `${unsent} Keep this page open: the request follows.`],
    ['sponsored', unsent],
    ['authorization', unsent],
  ] as const)
    expect(progressOf(signed, purchaseOf(way))).toMatchObject({
      title: 'Signed, waiting for the network',
      body,
    })
})

test('a signature that the seller holds needs no open page', () => {
  for (const way of ['signed_transfer', 'sponsored', 'authorization', 'permit'] as const)
    for (const state of unconfirmed('evm').slice(1))
      expect(progressOf(state, purchaseOf(way, header)).body).toBe('You can close this page.')
})
