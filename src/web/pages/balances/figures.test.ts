import { expect, test } from 'vitest'
import type { PaymentPage } from '../../api/queries.ts'
import { figureOf, pendingOn, pendingOutflows, totalOf } from './figures.ts'

type Row = PaymentPage['payments'][number]
const AT = { network: 'eip155:1', wallet: '0xA', asset: 'native' }
const HUGE = 2n ** 200n

const row = (fields: Partial<Row>): Row =>
  ({
    status: 'pending',
    mode: 'hosted',
    sender: AT.wallet,
    network: AT.network,
    asset: AT.asset,
    amountAtomic: '5',
    blockTime: null,
    ...fields,
  }) as Row
const held = (atomic: bigint | undefined) => [{ wallet: AT.wallet, asset: AT.asset, atomic }]

test.each([
  ['pending', 'local', 5n],
  ['rolled_back', 'local', 5n],
  ['created', 'hosted', 5n],
  // Nobody has signed it.
  ['created', 'local', 0n],
  // It is in the balance, or will never be.
  ['confirmed', 'hosted', 0n],
  ['failed', 'hosted', 0n],
] as const)('a payment that is %s and %s takes %s of the balance', (status, mode, out) => {
  const pending = pendingOutflows([row({ status, mode })])
  expect(figureOf(held(9n), pending, AT)).toEqual({
    balance: 9n,
    pending: out,
    available: 9n - out,
  })
})

test('a payment that is in a block is in the balance, however many confirmations it needs', () => {
  expect(figureOf(held(9n), pendingOutflows([row({ blockTime: 1 })]), AT)?.available).toBe(9n)
  // Its block is gone.
  const gone = row({ status: 'rolled_back', blockTime: null })
  expect(figureOf(held(9n), pendingOutflows([gone]), AT)?.available).toBe(4n)
})

test('open payments are added up exactly, per network, wallet and asset', () => {
  const pending = pendingOutflows([
    row({ amountAtomic: String(HUGE) }),
    row({ amountAtomic: '1' }),
    row({ network: 'eip155:10' }),
    row({ sender: '0xB' }),
    row({ asset: '0xC' }),
  ])
  expect(figureOf(held(HUGE + 3n), pending, AT)?.available).toBe(2n)
  expect(pendingOn(AT.network, pending)).toHaveLength(3)
  expect(pendingOn('eip155:10', pending)).toEqual(['eip155:10 0xA native 5'])
})

test('what is available is never below zero', () => {
  expect(figureOf(held(3n), pendingOutflows([row({})]), AT)).toEqual({
    balance: 3n,
    pending: 5n,
    available: 0n,
  })
})

test('a balance that is not known is no figure, and a total with it is none', () => {
  const known = figureOf(held(1n), new Map(), AT)
  expect(figureOf(undefined, new Map(), AT)).toBeUndefined()
  expect(figureOf(held(undefined), new Map(), AT)).toBeUndefined()
  expect(figureOf([], new Map(), AT)).toBeUndefined()
  expect(totalOf([known, undefined])).toBeUndefined()
  expect(totalOf([known, known])).toEqual({ balance: 2n, pending: 0n, available: 2n })
})

test('where open payments are not known, the total does not claim to know them', () => {
  const blind = figureOf(held(1n), undefined, AT)
  expect(blind).toMatchObject({ balance: 1n, pending: undefined })
  expect(totalOf([blind, figureOf(held(1n), new Map(), AT)])).toMatchObject({
    balance: 2n,
    pending: undefined,
  })
})
