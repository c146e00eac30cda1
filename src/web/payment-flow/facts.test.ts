import { msg } from '@lingui/core/macro'
import { afterEach, expect, test } from 'vitest'
import {
  addressFact,
  amountFact,
  fact,
  moneyOf,
  textFact,
  type MatchFact,
} from '#contract/facts.ts'
import { NATIVE_ETH } from '#contract/network.ts'
import { decodeSamples, simulationSamples } from '#testing/sample-reasons.ts'
import { i18n } from '../locales/i18n.ts'
import { formatCheckFact } from '../payment-intent/check-facts.ts'
import { formatDecodeProblem } from '../payment-intent/fact-values.ts'
import { formatMatchFact } from '../payment-intent/match-facts.ts'

afterEach(() => i18n.activate('en'))

/** Spanish with the few texts of a test: other files load all of them. */
const TRANSLATED = 'es-x-facts'
const money = ''
const most: MatchFact = { code: 'at_most', params: moneyOf('1234500000000000000315', NATIVE_ETH) }
const withGas: MatchFact = { code: 'plain_transfer_with', params: { gas: '21000' } }

test('facts are told in the reader’s language, with every digit in the reader’s way of writing', () => {
  expect([most, withGas].map(formatMatchFact)).toEqual([
    'up to 1,234.500000000000000315 ETH',
    'plain transfer, with 21,000 gas',
  ])
  i18n.load(TRANSLATED, {
    [msg`plain transfer`.id]: ['una transferencia simple'],
    [msg`transfer`.id]: ['transferencia'],
    [msg`up to ${money}`.id]: ['hasta ', ['money']],
  })
  i18n.activate(TRANSLATED, 'es-ES')
  const list: MatchFact = { code: 'list', params: { facts: [fact('transfer'), textFact('none')] } }
  expect([most, withGas, list].map(formatMatchFact)).toEqual([
    'hasta 1.234,500000000000000315 ETH',
    'una transferencia simple, with 21.000 gas',
    'transferencia, none',
  ])
})

test('addresses and texts of others are shown as they are, whatever they say', () => {
  for (const text of ['none', 'nothing', '1000 gas', 'constructor', ''])
    expect([textFact(text), addressFact(text)].map(formatCheckFact)).toEqual([text, text])
})

test('counts are told in the singular and the plural', () => {
  expect([1, 2].map((count) => formatCheckFact({ code: 'blocks', params: { count } }))).toEqual([
    '1 block',
    '2 blocks',
  ])
  const total = (count: number): MatchFact => ({
    code: 'transfers_total',
    params: { ...moneyOf(10n ** 18n, NATIVE_ETH), count },
  })
  expect(formatCheckFact(total(2))).toBe('1 ETH in 2 transfers')
})

test('facts of both unions are shown side by side, in lists too', () => {
  expect(
    formatCheckFact({
      code: 'list',
      params: { facts: [{ code: 'price', params: { microLamports: '50000' } }] },
    }),
  ).toBe('50,000 micro-lamports')
  const amount = ''
  i18n.load(TRANSLATED, { [msg`${{ amount }} micro-lamports`.id]: [['amount'], ' microlamports'] })
  i18n.activate(TRANSLATED, 'es-ES')
  expect(formatMatchFact({ code: 'price_per_unit', params: { microLamports: '50000' } })).toBe(
    '50.000 microlamports',
  )
  i18n.activate('en')
  expect(
    formatCheckFact({
      code: 'list',
      params: { facts: [{ code: 'wallet_guards_at_most', params: { count: 3 } }] },
    }),
  ).toBe('up to 3 guards of the wallet')
  expect(formatCheckFact(amountFact(5n, NATIVE_ETH))).toBe('0.000000000000000005 ETH')
})

test('every problem of a decoder and every reason of a simulation has its own text', () => {
  const { payment_field, offer_field, ...problems } = decodeSamples
  const texts = Object.values(problems).map(formatDecodeProblem)
  expect(new Set(texts).size).toBe(texts.length)
  expect([payment_field, offer_field].map(formatDecodeProblem)).toEqual([
    'amount: Missing field.',
    'amount: Missing field.',
  ])
  const reasons = Object.values(simulationSamples).map(formatCheckFact)
  expect(new Set(reasons).size).toBe(reasons.length)
})
