import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  addressFact,
  amountFact,
  CheckFact,
  fact,
  listFact,
  MatchFact,
  MAX_TIME_MS,
  moneyOf,
  signedTime,
  textFact,
} from './facts.ts'
import { simulationSamples } from '#testing/sample-reasons.ts'
import { parseJson, stringifyJson } from './json.ts'
import { renderCheckFact, renderMatchFact } from './render-facts.ts'

const ETH = { symbol: 'ETH', decimals: 18 }

describe('the English of a comparison', () => {
  test.each<[MatchFact, string]>([
    [addressFact('0xabc'), '0xabc'],
    [amountFact(10n ** 16n, ETH), '0.01 ETH'],
    [{ code: 'at_most', params: moneyOf(21_000_000_000_000n, ETH) }, 'at most 0.000021 ETH'],
    [{ code: 'plain_transfer_with', params: { gas: '21000' } }, 'a plain transfer with 21000 gas'],
    [{ code: 'list', params: { facts: [fact('transfer'), fact('memo')] } }, 'transfer, memo'],
    [{ code: 'until', params: { at: 1_700_000_000_000 } }, 'until 2023-11-14T22:13:20.000Z'],
    [fact('no_expiry'), 'no expiry'],
    [fact('reverted_nothing_moved'), 'reverted: nothing was moved'],
    [
      { code: 'contract_call', params: { selector: '0x095ea7b3', call: 'approve', bytes: 68 } },
      'a contract call of 68 bytes (approve: another account may take tokens later)',
    ],
    [
      { code: 'another_call', params: { selector: '0x12345678', call: null } },
      'another call (0x12345678)',
    ],
    [
      { code: 'token_instruction', params: { program: 'P', name: null, number: 99 } },
      'instruction 99 of the token program (P)',
    ],
    [
      {
        code: 'moved_by_balance',
        params: { ...moneyOf(-5n, { symbol: 'USDC', decimals: 6 }), owner: null },
      },
      '-0.000005 USDC, by the balance of an unknown owner',
    ],
  ])('%o', (said, sentence) => {
    expect(renderMatchFact(v.parse(MatchFact, said))).toBe(sentence)
  })
})

describe('the English of a check', () => {
  test.each<[CheckFact, string]>([
    [amountFact(10n ** 16n, ETH), '10000000000000000'],
    [fact('never_executed'), 'never executed'],
    [fact('executed_or_cancelled'), 'executed or cancelled'],
    [
      { code: 'valid_from', params: { at: 1_700_000_000_000 } },
      'valid from 1700000000 at the latest',
    ],
    [{ code: 'signed_time', params: { at: 0 } }, '0'],
    [
      { code: 'window', params: { from: 0, to: null } },
      'from 1970-01-01T00:00:00.000Z to any time',
    ],
    [{ code: 'one_of', params: { values: ['a', 'b'] } }, 'a or b'],
    [
      { code: 'order', params: { order: 'pay_1', resource: null } },
      'the order pay_1 for no resource',
    ],
    [listFact([textFact('one'), textFact('two')], fact('none')), 'one, two'],
  ])('%o', (said, sentence) => {
    expect(renderCheckFact(v.parse(CheckFact, said))).toBe(sentence)
  })
})

test('a fact survives the wire and the database unchanged', () => {
  const window: CheckFact = { code: 'window', params: { from: 0, to: MAX_TIME_MS } }
  const signers: CheckFact = { code: 'signatures_missing', params: { signers: ['a', 'b'] } }
  for (const each of [
    window,
    signers,
    amountFact(2n ** 256n - 1n, ETH),
    listFact([textFact('one'), textFact('two')], fact('none')),
  ])
    expect(v.parse(CheckFact, parseJson(stringifyJson(each)))).toEqual(each)
})

test.each([
  ['a code that is not known', { code: 'invented', params: {} }],
  ['an amount that is no digits', amountFact('1e3', ETH)],
  ['a time beyond the calendar', { code: 'time', params: { at: MAX_TIME_MS + 1 } }],
  [
    'a list within a list',
    { code: 'list', params: { facts: [{ code: 'list', params: { facts: [] } }] } },
  ],
])('%s is no fact', (_, value) => {
  expect(v.safeParse(CheckFact, value).success).toBe(false)
})

test('a signed time beyond the calendar is no limit', () => {
  expect([signedTime(1_700_000_000n), signedTime(2n ** 256n - 1n)]).toEqual([
    1_700_000_000_000,
    null,
  ])
})

test('every reason of a simulation is told with its figures', () => {
  expect(Object.values(simulationSamples).map(renderCheckFact)).toEqual([
    'The nonce 7 is used up: the next one is 9.',
    'The nonce 9 is ahead: the next one is 7.',
    'The payer does not hold the amount and its fee.',
    'The wallet that pays the network fee holds too little.',
    'The token needs more than 500000 gas to be moved.',
    'The call needs more than 500000 gas.',
    'The token says that it did not transfer.',
    'execution reverted: paused',
    'refused',
    'The recipient is a contract that rejects the payment: execution reverted: closed',
    'The recipient is a contract that needs more than 100000 gas to take a payment.',
    "The recipient's USDC account belongs to another account.",
    "The issuer of USDC has frozen the recipient's account.",
    "The issuer of USDC has frozen the sender's account.",
    'USDC cannot be paid here: there is no token at 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 on this network.',
    'USDC cannot be paid here: it is configured with 6 decimals and has 18.',
    'USDC cannot be paid here: it cannot be transferred.',
    'USDC cannot be paid here: every transfer runs the program 7vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi, which this service does not know.',
    'USDC cannot be paid here: it keeps a part of every transfer. Of 1 USDC, 0.99 USDC would arrive.',
    'The transaction ends in the middle of a field.',
    'not signed',
  ])
})
