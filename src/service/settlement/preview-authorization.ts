import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { fact } from '#contract/facts.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { requireBudget } from '../db/settlement-fees.ts'
import {
  checkFunds,
  checkPayer,
  checkValidity,
  contractsOf,
  simulateExecution,
} from '../verification/check-authorization.ts'
import { verifyOfficially } from '../verification/official.ts'
import { readProofTime } from '../verification/proof-time.ts'
import { undecided } from '../verification/verification-report.ts'
import type { ProofUnderCheck } from '../verification/validate-transfer.ts'
import { dailyFees, facilitatorWallets } from './facilitator-wallet.ts'

type AuthorizationUnderCheck = ProofUnderCheck & { keyless: boolean }
type Authorized = { chain: Chain; verified: VerifiedAuthorization }

/**
 * Whether an authorization could be executed now, after its signature was checked, one question after
 * the other, so that every refusal names its reason.
 * @throws ProofRefused; NotValidNowError; `PAYMENT_VERIFICATION_FAILED`, `RATE_LIMIT`
 */
export async function previewAuthorization(
  context: Context,
  { terms, report, accountId, keyless }: AuthorizationUnderCheck,
  { chain, verified }: Authorized,
): Promise<string> {
  const contracts = contractsOf(chain)
  const use = await contracts.findUse(verified)
  report.check('already_used', {
    name: 'fresh',
    source: 'chain',
    ok: !use.used,
    expected: fact('never_executed'),
    got: fact(use.used ? 'executed' : 'never_executed'),
  })
  checkValidity(
    { authorization: verified, report },
    await readProofTime(context, terms.network.network),
  )
  await checkFunds({ chain, terms, authorization: verified, report })
  const [address] = facilitatorWallets(context, 'evm')
  if (address === undefined)
    throw undecided(
      'This service does not settle tokens: it has no fee payer for them. Nothing is decided.',
    )
  await checkPayer(context, { chain, report }, verified.from)
  const { feeAtomic } = await simulateExecution(
    { chain, report },
    { from: address, ...callOf(verified) },
  )
  const { network } = chain
  await requireBudget(context.db, {
    network: network.network,
    wallet: address,
    accountId: keyless ? null : accountId,
    feeAtomic,
    limits: dailyFees(context, network),
  })
  refuseVerdict(
    context,
    chain,
    await verifyOfficially({ contracts, terms, authorization: verified, address }),
  )
  return verified.from
}

/** An objection of the package proves nothing, since our own checks have all passed. */
export function refuseVerdict(context: Context, chain: Chain, verdict: string | null): void {
  if (verdict === null) return
  context.log.warn(
    { verdict, network: chain.network.network },
    'the official facilitator does not verify a payment',
  )
  throw undecided('The payment could not be verified now. Nothing is decided.')
}
