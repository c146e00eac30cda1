import { expect, test } from 'vitest'
import { reviewPayment, verdictOf, type ReviewFacts } from './review.ts'

const clean: ReviewFacts = {
  match: { ok: true, rows: [], digest: 'd' },
  steps: [],
  simulation: { state: 'passed', changes: [] },
  twin: false,
  firstTime: false,
  lookAlike: null,
  chainKnown: true,
}
const codesOf = (facts: Partial<ReviewFacts>) =>
  reviewPayment({ ...clean, ...facts }).findings.map(({ code }) => code)

test('a clean payment has no findings', () => {
  expect(reviewPayment(clean)).toMatchObject({ findings: [], verdict: 'ok' })
})

test.each([
  [{ lookAlike: '0x7099' }, 'LOOK_ALIKE', 'warn'],
  [{ twin: true }, 'OPEN_TWIN', 'warn'],
  [{ chainKnown: null }, 'CHAIN_UNREAD', 'warn'],
  [{ chainKnown: false }, 'OTHER_CHAIN', 'blocked'],
  [{ match: { ok: false, rows: [], digest: 'd' } }, 'MISMATCH', 'blocked'],
  [{ simulation: { state: 'failed', reason: 'x' } }, 'SIMULATION_FAILED', 'blocked'],
  [{ simulation: { state: 'unavailable', reason: 'x' } }, 'SIMULATION_UNAVAILABLE', 'warn'],
  [{ firstTime: true }, 'FIRST_TIME', 'ok'],
] as const satisfies [Partial<ReviewFacts>, string, string][])(
  '%j is told as %s and makes it %s',
  (facts, code, verdict) => {
    expect(codesOf(facts)).toContain(code)
    expect(verdictOf(reviewPayment({ ...clean, ...facts }))).toBe(verdict)
  },
)

test('the address that a look-alike was made after stands in the warning', () => {
  expect(
    reviewPayment({ ...clean, lookAlike: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }).findings[0]
      ?.text,
  ).toContain('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
})
