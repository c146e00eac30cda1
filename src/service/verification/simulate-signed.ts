import { fact } from '#contract/facts.ts'
import { familyOf } from '#contract/network.ts'
import type { Chain } from '../chains/chain.ts'
import type { ProofUnderCheck } from './validate-transfer.ts'

/** Whether the network would take now what the payer signed, and the payee would get all of it. @throws ProofRefused `simulation_failed` */
export async function simulateSigned(
  { terms, examined, report }: ProofUnderCheck,
  chain: Chain,
  bytes: Uint8Array,
): Promise<void> {
  const { asset, network, payTo: recipient, amountAtomic } = terms
  const token = !asset.native && familyOf(network.network) === 'solana'
  const rehearsal = await chain.simulateSigned(
    bytes,
    token && examined.payer !== null
      ? { asset, sender: examined.payer, recipient, amountAtomic }
      : undefined,
  )
  const got = rehearsal.ok ? fact('accepted') : rehearsal.reason
  report.check('simulation_failed', {
    name: 'simulation',
    source: 'chain',
    ok: rehearsal.ok,
    expected: fact('accepted'),
    got,
  })
}
