import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  POINTS,
  runCases,
  FAULTS,
  type Case,
  type CrashFinding,
  type Fault,
} from '#testing/chaos/crash-batch.ts'
import { openCrashHarness, type CrashHarness } from '#testing/chaos/crash-harness.ts'

/**
 * Real processes, killed at each step of a hosted send and of a settlement: on one chain while
 * nothing else fails, on the other one while the RPC is down or Postgres crashes.
 * `npm run chaos:crash` hits each step on both chains with each trouble.
 */

const points = Object.keys(POINTS) as (keyof typeof POINTS)[]
/** Each step is hit on both chains, on one of them with a trouble, and each trouble meets both chains. */
const CASES: Readonly<Record<Fault, readonly Case[]>> = {
  nothing: points.map((point, index) => caseOf(point, index % 4 > 1)),
  'the RPC down': points.flatMap((point, index) =>
    index % 2 === 0 ? [caseOf(point, index % 4 === 0)] : [],
  ),
  'Postgres restarted': points.flatMap((point, index) =>
    index % 2 === 1 ? [caseOf(point, index % 4 === 1)] : [],
  ),
}

function caseOf(point: keyof typeof POINTS, onEvm: boolean): Case {
  return { family: onEvm ? 'evm' : 'solana', point }
}

/**
 * The signature of a presented authorization is checked first, and only the chain can check it:
 * contracts sign too.
 */
const asksFirst = ({ family, point }: Case) => family === 'evm' && point.startsWith('settle:')

let stage: CrashHarness

beforeAll(async () => {
  stage = await openCrashHarness()
})
afterAll(() => stage?.[Symbol.asyncDispose]())

describe.each(FAULTS)('with %s', (userError) => {
  let findings: CrashFinding[]

  beforeAll(async () => {
    findings = await runCases(stage, userError, CASES[userError])
  })

  test.each(CASES[userError])(
    'a service on $family that dies at $point makes exactly one transfer in the end',
    ({ family, point }) => {
      const kept = POINTS[point]
      expect(
        findings.find((finding) => finding.family === family && finding.point === point),
      ).toEqual({
        family,
        point,
        endedBy: 'SIGKILL',
        // Before the commit nothing exists; after it, the payment and everything that was signed
        // for it.
        kept,
        meanwhile: {
          nothing: undefined,
          'the RPC down': kept && !asksFirst({ family, point }) ? 202 : 503,
          'Postgres restarted': 503,
        }[userError],
        status: 200,
        payments: 1,
        signed: 1,
        difference: 0n,
      })
    },
  )
})
