import { expect, test } from 'vitest'
import { PAYMENT_STATUSES } from '#contract/payment.ts'
import { stateWords } from './state-words.ts'

const words = (
  status: (typeof PAYMENT_STATUSES)[number],
  signature: string | null = null,
  blockHeight: number | null = null,
) => stateWords({ status, signature, blockHeight, confirmations: 0, requiredConfirmations: 3 })

test('every status has a distinct sentence', () => {
  const sentences = PAYMENT_STATUSES.map((status) => words(status))
  expect(new Set(sentences).size).toBe(PAYMENT_STATUSES.length)
})

test('what never left says so; what may have left never does', () => {
  expect(words('failed')).toContain('Nothing was sent')
  // The service only knows that it saw nothing: the wallet may have sent it.
  for (const status of ['created', 'expired'] as const)
    expect(words(status)).not.toContain('Nothing was sent')
  for (const status of ['pending', 'confirmed', 'finalized', 'rolled_back'] as const)
    expect(words(status, '0xabc')).not.toContain('Nothing was sent')
  expect(words('failed', '0xabc')).not.toContain('Nothing was sent')
})

test('a failure says whether a fee was paid for it', () => {
  expect(words('failed', '0xabc')).toContain('Nothing was paid')
  expect(words('failed', '0xabc', 7)).toContain('Only the network fee was paid')
})

test('a payment dropped by a reorganization says not to deliver', () => {
  expect(words('rolled_back', '0xabc')).toContain('Do not deliver')
})
