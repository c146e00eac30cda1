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
 * Real processes, killed at each step of a hosted send and of a settlement. When something else
 * fails too, each step is hit on one chain; `npm run chaos:crash` hits it on both.
 */

const points = Object.keys(POINTS) as (keyof typeof POINTS)[]
const onBoth = points.flatMap((point) =>
  (['evm', 'solana'] as const).map((family): Case => ({ family, point })),
)
const inTurn = points.map((point, index): Case => ({
  family: index % 2 === 0 ? 'evm' : 'solana',
  point,
}))
const casesOf = (userError: Fault) => (userError === 'nothing' ? onBoth : inTurn)

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
    findings = await runCases(stage, userError, casesOf(userError))
  })

  test.each(casesOf(userError))(
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
