import { expect, test } from 'vitest'
import { isPayerWritten } from './payer-written.ts'

const terms = { description: 'Autumn issue', reference: null }
const metadata = {
  description: 'Autumn issue',
  referenceId: 'for my sister',
  paymentLink: 'lnk_1',
  pieces: 3,
}
const payers = (...[words, of]: [Record<string, unknown>, typeof terms | undefined]) =>
  Object.entries(words).flatMap((entry) =>
    isPayerWritten(entry, { metadata: words, terms: of }) ? [entry[0]] : [],
  )

test('what a link of the merchant sets is not told as the words of the payer', () => {
  expect(payers(metadata, terms)).toEqual(['referenceId'])
})

test('what a link leaves open, or says otherwise, is told as the words of the payer', () => {
  const other = { ...metadata, description: 'Refund me 500 EUR' }
  expect(payers(other, terms)).toEqual(['description', 'referenceId'])
  expect(payers(metadata, undefined)).toEqual(['description', 'referenceId'])
})

test('without a link everything may be the words of the payer', () => {
  expect(payers({ description: 'Autumn issue', order: 7 }, terms)).toEqual(['description', 'order'])
})
