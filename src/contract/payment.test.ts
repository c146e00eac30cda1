import { expect, test } from 'vitest'
import {
  canMove,
  createPaymentId,
  DIRECTIONS,
  EVENT_SOURCES,
  EVIDENCES,
  isPaid,
  isPaymentId,
  isSettled,
  LEGAL_MOVES,
  LISTED_STATUSES,
  namedPaymentIds,
  PAYMENT_MODES,
  PAYMENT_STATUSES,
  refundableOf,
  type PaymentStatus,
} from './payment.ts'

test('the table of moves has a row for every status and names only statuses', () => {
  expect(Object.keys(LEGAL_MOVES).toSorted()).toEqual(PAYMENT_STATUSES.toSorted())
  for (const to of Object.values(LEGAL_MOVES).flat()) expect(PAYMENT_STATUSES).toContain(to)
})

test('the legal moves are these and no others', () => {
  const legal = PAYMENT_STATUSES.flatMap((from) =>
    PAYMENT_STATUSES.filter((to) => canMove(from, to)).map((to) => `${from} → ${to}`),
  )
  expect(legal).toEqual([
    'created → pending',
    'created → expired',
    'created → failed',
    'pending → confirmed',
    'pending → failed',
    'confirmed → finalized',
    'confirmed → rolled_back',
    'expired → confirmed',
    'rolled_back → pending',
    'rolled_back → confirmed',
    'rolled_back → failed',
  ])
})

test('no status moves to itself, and every status but created can be reached', () => {
  for (const status of PAYMENT_STATUSES) expect(canMove(status, status)).toBe(false)
  const reached = new Set<PaymentStatus>(['created'])
  for (const status of reached) for (const next of LEGAL_MOVES[status]) reached.add(next)
  expect(reached.size).toBe(PAYMENT_STATUSES.length)
})

test('finalized and failed are the end; expired gives way only to a chain that shows the payment after all', () => {
  expect(PAYMENT_STATUSES.filter((status) => LEGAL_MOVES[status].length === 0)).toEqual([
    'finalized',
    'failed',
  ])
  expect(LEGAL_MOVES.expired).toEqual(['confirmed'])
  expect(PAYMENT_STATUSES.filter(isSettled)).toEqual(['finalized', 'expired', 'failed'])
})

test('only confirmed and finalized are paid', () => {
  expect(PAYMENT_STATUSES.filter(isPaid)).toEqual(['confirmed', 'finalized'])
})

test('payment ids have one shape and do not repeat', () => {
  const ids = Array.from({ length: 10_000 }, createPaymentId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.every(isPaymentId)).toBe(true)
})

test.each([
  '',
  'pay_',
  `pay_${'1'.repeat(21)}`,
  `pay_${'1'.repeat(23)}`,
  `pay_${'0'.repeat(22)}`,
  `PAY_${'1'.repeat(22)}`,
  `pay_${'1'.repeat(22)}\n`,
  ` pay_${'1'.repeat(22)}`,
])('%j is no payment id', (text) => {
  expect(isPaymentId(text)).toBe(false)
})

test('callers filter by every status and by what went back, and read these words and no others', () => {
  expect(LISTED_STATUSES).toEqual([...PAYMENT_STATUSES, 'refunded', 'partly_refunded'])
  expect({ PAYMENT_MODES, DIRECTIONS, EVIDENCES, EVENT_SOURCES }).toEqual({
    PAYMENT_MODES: ['local', 'hosted', 'received'],
    DIRECTIONS: ['received', 'sent', 'internal', 'external'],
    EVIDENCES: ['hosted', 'memo', 'payer_signature', 'fingerprint', 'sender', 'unproven'],
    EVENT_SOURCES: ['service', 'client', 'watcher', 'facilitator'],
  })
})

test('the ids that a text names are found wherever they stand, each once', () => {
  const [one, other] = [createPaymentId(), createPaymentId()]
  expect(namedPaymentIds(`x${one} ${other}${one}`)).toEqual(new Set([one, other]))
  expect(namedPaymentIds(`pay_pay_${one} ${one.slice(0, -1)}`)).toEqual(new Set([one]))
  expect(namedPaymentIds('pay_1')).toEqual(new Set())
})

test.each([
  ['10', '0', '0', 10n],
  ['10', '3', '2', 5n],
  ['10', '8', '2', 0n],
  ['10', '8', '3', 0n],
])(
  'of %s, with %s refunded and %s under way, %s can be refunded',
  (amountAtomic, refundedAtomic, pendingAtomic, left) => {
    expect(refundableOf({ amountAtomic, refund: { refundedAtomic, pendingAtomic } })).toBe(left)
  },
)
