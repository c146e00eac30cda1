import { expect, test } from 'vitest'
import { i18n } from '../../locales/i18n.ts'
import { failureWords } from './state-words.ts'

test.each([
  [
    'The transaction landed and failed: {"InstructionError":[2,{"Custom":1}]}',
    'balance was too low',
  ],
  ['The transaction landed and failed: {"InstructionError":[1,{"Custom":17}]}', 'froze'],
  [
    'The transaction landed and failed: {"InsufficientFundsForRent":{"account_index":1}}',
    'below its minimum',
  ],
  [
    'The transaction landed and failed: {"InstructionError":[3,"ComputationalBudgetExceeded"]}',
    'compute limit',
  ],
  [
    'The transaction landed and failed: {"InstructionError":[0,{"Custom":6001}]}',
    'The network rejected it',
  ],
  ['The transaction landed and was reverted: nothing was moved.', 'contract'],
])('%s is told in words', (failure, words) => {
  const found = failureWords(failure)
  expect(found && i18n._(found)).toContain(words)
})

test('what nobody knows is left as it is', () => {
  expect(
    failureWords(
      'The transaction was broadcast, did not land, and can no longer land: nothing was paid.',
    ),
  ).toBeUndefined()
})
