import { fact } from '#contract/facts.ts'
import { familyOf } from '#contract/network.ts'
import type { Chain } from '../chains/chain.ts'
import type { ProofUnderCheck } from './validate-transfer.ts'
import type { VerificationReport } from './verification-report.ts'

/** Whether the network would take now what the payer signed, and the payee would get all of it. @throws ProofRefusedError `simulation_failed` */
export async function simulateSigned(
  { terms, verifiedProof, report }: ProofUnderCheck,
  chain: Chain,
  bytes: Uint8Array,
): Promise<void> {
  const { asset, network, payTo: recipient, amountAtomic } = terms
  const token = !asset.native && familyOf(network.network) === 'solana'
  const simulation = await chain.simulateSigned(
    bytes,
    token && verifiedProof.payer !== null
      ? { asset, sender: verifiedProof.payer, recipient, amountAtomic }
      : undefined,
  )
  const got = simulation.ok ? fact('accepted') : simulation.reason
  report.check('simulation_failed', {
    name: 'simulation',
    source: 'chain',
    ok: simulation.ok,
    expected: fact('accepted'),
    got,
  })
}

/**
 * Refuses a transaction that the network shows already, where nothing else tells whose it is: it is public, and anybody could present it.
 * @throws ProofRefusedError `already_used`
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

/**
 * Refuses a token transfer that nothing binds to this seller's question, where the network shows it
 * already, confirmed or not: anybody could present it.
 * @throws ProofRefusedError `already_used`
 */
export function refuseUnbound(
  { terms, report }: Pick<ProofUnderCheck, 'terms' | 'report'>,
  state: 'pending' | 'landed',
): void {
  if (terms.asset.native || terms.memo !== null) return
  report.check('already_used', {
    name: 'fresh',
    source: 'chain',
    ok: false,
    expected: fact('never_broadcast_without_memo'),
    got: fact(state),
  })
}
