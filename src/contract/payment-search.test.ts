import { describe, expect, test } from 'vitest'
import { customerTextOf, describeSearchProblem, parseSearch } from './payment-search.ts'

const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const at = (value: string, inclusive = true) => ({ value, inclusive })

describe('a search is read', () => {
  test.each([
    ['late order', { text: 'late order' }],
    ['amount:>1 status:failed', { minAmount: at('1', false), status: ['failed'] }],
    ['AMOUNT:<=2.5', { maxAmount: at('2.5') }],
    ['amount:0.5', { minAmount: at('0.5'), maxAmount: at('0.5') }],
    ['amount:0..5', { minAmount: at('0'), maxAmount: at('5') }],
    ['amount:1.25..5.5', { minAmount: at('1.25'), maxAmount: at('5.5') }],
    ['amount:>1 amount:<5', { minAmount: at('1', false), maxAmount: at('5', false) }],
    ['status:failed,expired', { status: ['failed', 'expired'] }],
    ['status:refunded,partly_refunded', { status: ['refunded', 'partly_refunded'] }],
    ['status:incomplete', { status: 'incomplete' }],
    ['tea asset:USDC cups', { text: 'tea  cups', asset: 'USDC' }],
    ['network:eip155:8453', { network: 'eip155:8453' }],
    [`from:${ALICE.toLowerCase()} to:${ALICE}`, { from: ALICE, to: ALICE }],
    ['asset:"USDC"', { asset: 'USDC' }],
  ])('%s', (query, search) => {
    expect(parseSearch(query)).toEqual({ ok: true, search })
  })

  test.each([
    ['order "7"'],
    ['https://shop.example/a?b=c:d'],
    ['shop.example:8080/item'],
    ['order:5'],
    ['urn:order:5'],
    ['"tea amount:>1"'],
    ["\\' or 1=1 --"],
  ])('%s is all text', (query) => {
    expect(parseSearch(query)).toEqual({ ok: true, search: { text: query } })
  })

  test('quotes make text of an operator', () => {
    expect(parseSearch('"status:failed"')).toEqual({ ok: true, search: { text: 'status:failed' } })
    expect(parseSearch('  ')).toEqual({ ok: true, search: {} })
  })
})

test.each([
  ['ada', 'ada'],
  ['Ada Byron status:failed', 'Ada Byron'],
  ['status:failed', undefined],
  ['a', undefined],
  [ALICE, undefined],
  ['pay_2222222222222222222222', undefined],
  ['amount:x ada', undefined],
])('the search %s may name the customer %s', (query, text) => {
  expect(customerTextOf(query)).toBe(text)
})

test.each([
  ['tea amount:x', 'amount:x', 'amount'],
  ['amount:>', 'amount:>', 'amount'],
  ['amount:>1..2', 'amount:>1..2', 'amount'],
  ['amount:-1', 'amount:-1', 'amount'],
  ['amount:1,5', 'amount:1,5', 'amount'],
  ['status:paid', 'status:paid', 'status'],
  ['status:failed,incomplete', 'status:failed,incomplete', 'status'],
  ['status:', 'status:', 'status'],
  ['asset:', 'asset:', 'asset'],
  ['network:a/b', 'network:a/b', 'network'],
  ['from:0x12', 'from:0x12', 'from'],
  ['to:bob', 'to:bob', 'to'],
  ['amout:>1', 'amout:>1', 'operator'],
  ['status:failed status:expired', 'status:expired', 'once'],
  ['amount:>1 amount:>2', 'amount:>2', 'once'],
  ['amount:1 amount:<2', 'amount:<2', 'once'],
])('%s is refused: %s, expected %s', (query, word, expected) => {
  const parsed = parseSearch(query)
  expect(parsed).toEqual({ ok: false, problem: { word, expected } })
  if (!parsed.ok) expect(describeSearchProblem(parsed.problem)).toContain(JSON.stringify(word))
})
