import { fact } from '#contract/facts.ts'
import type { VerificationReport } from './verification-report.ts'

/**
 * Refuses a transaction that the network shows already, where nothing else tells whose it is: it is public, and anybody could present it.
 * @throws ProofRefused `already_used`
 */
export function refuseBroadcast(report: VerificationReport, state: 'pending' | 'landed'): void {
  report.check('already_used', {
    name: 'fresh',
    source: 'chain',
    ok: false,
    expected: fact('never_broadcast'),
    got: fact(state),
  })
}
