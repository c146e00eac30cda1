import { t } from '@lingui/core/macro'
import type { Match, Step } from '#chains/match.ts'
import type { Finding, Review, Simulation } from '../payment-intent/intent.ts'

/** What the browser knows about a payment beside the transaction itself. */
export type ReviewFacts = {
  match: Match
  steps: readonly Step[]
  simulation: Simulation
  /** Another payment of the same amount to the same recipient, open or paid since this order was made. */
  twin: boolean
  firstTime: boolean
  /** An address that the payer knows, with the same ends as the recipient, which is another one. */
  lookAlike: string | null
  /** Whether our own RPC knows the chain the transaction is bound to; null when it could not be asked. */
  chainKnown: boolean | null
}

/** Puts the findings of a payment together: any mismatch or failed simulation blocks, what could not be checked warns. */
export function reviewPayment(facts: ReviewFacts): Review {
  const findings: Finding[] = []
  if (!facts.match.ok)
    findings.push({
      code: 'MISMATCH',
      severity: 'critical',
      text: t`The transaction differs.`,
    })
  if (facts.chainKnown === false) {
    findings.push({
      code: 'OTHER_CHAIN',
      severity: 'critical',
      text: t`Your RPC endpoint serves another network.`,
    })
  }
  if (facts.chainKnown === null) {
    findings.push({
      code: 'CHAIN_UNREAD',
      severity: 'warn',
      text: t`The RPC endpoint did not confirm the network.`,
    })
  }
  findings.push(...twinFindings(facts.twin))
  if (facts.lookAlike !== null) {
    const known = facts.lookAlike
    findings.push({
      code: 'LOOK_ALIKE',
      severity: 'warn',
      text: t`This resembles ${known}. Compare every character.`,
    })
  }
  if (facts.firstTime)
    findings.push({
      code: 'FIRST_TIME',
      severity: 'info',
      text: t`First payment to this address. Check it.`,
    })
  if (facts.match.ok) findings.push(...simulationFindings(facts.simulation))
  return withVerdict({
    match: facts.match,
    steps: facts.steps,
    simulation: facts.simulation,
    findings,
    verdict: 'ok',
  })
}

/** The same review, which warns of a payment that another tab has begun since; the very review where it warns already or there is none. */
export function withTwin(review: Review, twin: boolean): Review {
  const [found] = twinFindings(twin)
  return !found || review.findings.some(({ code }) => code === found.code)
    ? review
    : withVerdict({ ...review, findings: [found, ...review.findings] })
}

/** The same review with the simulation's outcome in it. */
export function withSimulation(review: Review, simulation: Simulation): Review {
  const others = review.findings.filter((finding) => !finding.code.startsWith('SIMULATION_'))
  return withVerdict({
    ...review,
    simulation,
    findings: [...others, ...simulationFindings(simulation)],
  })
}

export function verdictOf(review: Review): Review['verdict'] {
  if (!review.match.ok || review.findings.some((finding) => finding.severity === 'critical'))
    return 'blocked'
  return review.findings.some((finding) => finding.severity === 'warn') ? 'warn' : 'ok'
}

function withVerdict(review: Review): Review {
  return { ...review, verdict: verdictOf(review) }
}

function twinFindings(twin: boolean): Finding[] {
  return twin
    ? [{ code: 'OPEN_TWIN', severity: 'warn', text: t`A payment like this already exists.` }]
    : []
}

function simulationFindings(simulation: Simulation): Finding[] {
  const reason = 'reason' in simulation ? simulation.reason : ''
  switch (simulation.state) {
    case 'running':
    case 'passed':
      return []
    case 'failed':
      return [
        {
          code: 'SIMULATION_FAILED',
          severity: 'critical',
          text: t`The payment would fail: ${reason}`,
        },
      ]
    case 'unavailable':
      return [
        {
          code: 'SIMULATION_UNAVAILABLE',
          severity: 'warn',
          text: t`Not simulated: ${reason}`,
        },
      ]
  }
}
