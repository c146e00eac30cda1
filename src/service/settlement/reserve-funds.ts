import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { fact, moneyOf } from '#contract/facts.ts'
import type { Context } from '../context/context.ts'
import { reserve } from '../db/reservations.ts'
import { chainOf } from '../context/network.ts'
import { contractsOf } from '../verification/check-authorization.ts'
import type { VerificationReport } from '../verification/verification-report.ts'
import type { VerifiedProof, ExpectedTerms } from '../verification/terms.ts'

/**
 * Reserves what an authorization moves, so that many verified at once never promise more than their payer can move. Other methods sign over their own place in
 * the payer's order of transactions and need none.
 * @throws ProofRefused `insufficient_funds`; `CHAIN_UNAVAILABLE`
 */
export async function reserveFunds(
  context: Context,
  {
    terms,
    examined: { authorization, key },
    report,
  }: { terms: ExpectedTerms; examined: VerifiedProof; report: VerificationReport },
): Promise<void> {
  if (!authorization || key === null) return
  const { method, token, from, amountAtomic, validBefore } = authorization
  const { asset } = terms
  const { network } = terms.network
  const holding = await contractsOf(chainOf(context, network)).holding({
    token,
    owner: from,
    spender: method === 'permit2' ? PERMIT2 : null,
  })
  // What a token does not tell was left to the simulation.
  if (!holding) return
  const { height, balanceAtomic, allowanceAtomic } = holding
  const availableAtomic =
    allowanceAtomic === null || allowanceAtomic > balanceAtomic ? balanceAtomic : allowanceAtomic
  const others = await reserve(context.db, {
    network,
    payer: from,
    asset: token,
    key,
    amountAtomic,
    availableAtomic,
    height,
    validBefore,
  })
  report.check('insufficient_funds', {
    name: 'reservation',
    source: 'record',
    ok: others === null,
    expected: { code: 'at_least_unpromised', params: moneyOf(amountAtomic, asset) },
    got:
      others === null
        ? fact('reserved')
        : {
            code: 'promised',
            params: { ...moneyOf(availableAtomic, asset), promisedAtomic: others.toString() },
          },
  })
}
