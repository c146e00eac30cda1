import { expect, test } from 'vitest'
import { amountFact, textFact } from '#contract/facts.ts'
import { toCheck } from './service-checks.ts'

const check = { name: 'paid_amount', source: 'chain', ok: true, expected: '5', got: '5' } as const
const amount = amountFact(5n, { symbol: 'ETH', decimals: 18 })

test('a check of the service is read by its facts', () => {
  expect(toCheck({ ...check, expectedFact: amount, gotFact: amount }, undefined)).toMatchObject({
    expected: amount,
    got: amount,
  })
})

test('an older service sends sentences alone: they are shown as they came', () => {
  expect(toCheck({ ...check, got: 'an earlier wording' }, undefined)).toMatchObject({
    expected: textFact('5'),
    got: textFact('an earlier wording'),
  })
})

test('a code of a newer service, or one with other parameters, is shown by its sentence', () => {
  const newer = {
    ...check,
    expectedFact: { code: 'invented', params: {} },
    gotFact: { code: 'amount', params: {} },
  }
  expect(toCheck(newer, undefined)).toMatchObject({ expected: textFact('5'), got: textFact('5') })
})
