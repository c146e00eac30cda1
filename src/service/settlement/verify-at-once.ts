import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { fact, moneyOf } from '#contract/facts.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ContractHolding } from '../chains/contracts.ts'
import type { Actor, Context } from '../context/context.ts'
import { chainOf } from '../context/network.ts'
import { KEYLESS_SCOPE } from '../db/claims.ts'
import { reserveVerified, reserve } from '../db/reservations.ts'
import { requireGranting } from '../reconciliation/affirm.ts'
import {
  acceptExecution,
  acceptFunds,
  checkSignature,
  checkValidity,
  contractsOf,
  LEAST_LEFT_S,
} from '../verification/check-authorization.ts'
import { verifyOfficially, type Official } from '../verification/official.ts'
import type { ExpectedTerms, VerifiedProof } from '../verification/terms.ts'
import { VerificationReport } from '../verification/verification-report.ts'
import { dailyFees, facilitatorWallets } from './facilitator-wallet.ts'

/** Every so many payments that were verified at once, the official package is asked, too. */
const SHADOWED = 100
let verifiedAtOnce = 0

/** Whether the payer signed, found once for both ways; null for a proof that is no authorization. */
export type SignatureFinding =
  | {
      verified: VerifiedAuthorization
      checks: VerificationReport['checks']
    }
  | { error: unknown; checks: VerificationReport['checks'] }
  | null

type ProofWithTerms = { terms: ExpectedTerms; verifiedProof: VerifiedProof }
export type AtOnce = ProofWithTerms & { report: VerificationReport; signature: SignatureFinding }

export async function findSignature(
  context: Context,
  { terms, verifiedProof: { authorization } }: ProofWithTerms,
): Promise<SignatureFinding> {
  if (!authorization) return null
  const report = new VerificationReport()
  const { checks } = report
  const chain = chainOf(context, terms.network.network)
  try {
    return { verified: await checkSignature({ chain, terms, authorization, report }), checks }
  } catch (error) {
    return { error, checks }
  }
}

/** @throws what the check of the signature threw */
export function reportSignature(
  finding: SignatureFinding,
  report: VerificationReport,
): VerifiedAuthorization | null {
  if (finding === null) return null
  report.checks.push(...finding.checks)
  if ('error' in finding) throw finding.error
  return finding.verified
}

/**
 * Verifies an authorization that a key signed with one request to the chain and one to the database,
 * and reserves its funds. A token executes the authorization in a simulation only where it is unused,
 * valid by the block's time and funded, and the database says nothing against it. Whatever else is
 * the case is found in steps.
 * @returns the payer; null where this shows nothing
 * @throws ProofRefusedError `insufficient_funds`, where others were promised the funds
 */
export async function verifyAtOnce(
  context: Context,
  actor: Actor,
  { report, ...proof }: AtOnce,
): Promise<string | null> {
  const found = await tryAtOnce(context, actor, proof)
  if (!found) return null
  report.checks.push(...found.checks)
  // Funds that are promised to others: what the payer holds is read again before it is refused.
  if (!found.reserved) await reserveFunds(context, { ...proof, report })
  return found.payer
}

type Found = { payer: string; checks: VerificationReport['checks']; reserved: boolean }

async function tryAtOnce(
  context: Context,
  { accountId, keyless = false }: Actor,
  { terms, verifiedProof: { key }, signature }: Omit<AtOnce, 'report'>,
): Promise<Found | null> {
  const [wallet] = facilitatorWallets(context, 'evm')
  if (signature === null || !('verified' in signature) || key === null) return null
  const { verified } = signature
  if (wallet === undefined || verified.signedBy !== 'key') return null
  const { network } = terms.network
  const { method, token, from, amountAtomic, validAfter, validBefore } = verified
  const chain = chainOf(context, network)
  const contracts = contractsOf(chain)
  try {
    await requireGranting(context, network)
    const [executed, clock] = await Promise.all([
      contracts.executes(
        { from: wallet, ...callOf(verified) },
        { token, owner: from, spender: method === 'permit2' ? PERMIT2 : null },
      ),
      chain.clock(),
    ])
    if (!executed) return null
    const {
      holding,
      quote: { feeAtomic },
    } = executed
    const recorded = await reserveVerified(context.db, {
      network,
      payee: terms.payTo,
      accountId,
      keyless,
      claimScope: keyless ? KEYLESS_SCOPE : accountId,
      key,
      payer: from,
      asset: token,
      amountAtomic,
      availableAtomic: movable(holding),
      height: holding.height,
      headS: BigInt(Math.floor(clock.head.getTime() / 1000)),
      validAfter,
      validBefore,
      leastLeftS: LEAST_LEFT_S,
      wallet,
      feeAtomic,
      limits: dailyFees(context, terms.network),
    })
    if (recorded === null) return null
    const latest = new Date(Math.max(clock.head.getTime(), recorded.at.getTime()))
    const own = new VerificationReport()
    own.checks.push(...signature.checks)
    own.check('already_used', UNUSED)
    own.check('already_used', FRESH)
    checkValidity({ authorization: verified, report: own }, { ...clock, latest })
    acceptFunds({ terms, authorization: verified, report: own }, holding)
    acceptExecution(own)
    if (!recorded.reserved) return { payer: from, checks: own.checks, reserved: false }
    own.check('insufficient_funds', {
      name: 'reservation',
      source: 'record',
      ok: true,
      expected: { code: 'at_least_unpromised', params: moneyOf(amountAtomic, terms.asset) },
      got: fact('reserved'),
    })
    if (++verifiedAtOnce % SHADOWED === 0)
      compareWithOfficial(context, { contracts, terms, authorization: verified, address: wallet })
    return { payer: from, checks: own.checks, reserved: true }
  } catch (error) {
    if (error instanceof ProblemError) return null
    throw error
  }
}

const UNUSED = {
  name: 'single_use',
  source: 'record',
  ok: true,
  expected: fact('never_used'),
  got: fact('never_used'),
} as const
const FRESH = {
  name: 'fresh',
  source: 'chain',
  ok: true,
  expected: fact('never_executed'),
  got: fact('never_executed'),
} as const

function movable({ balanceAtomic, allowanceAtomic }: ContractHolding): bigint {
  return allowanceAtomic === null || allowanceAtomic > balanceAtomic
    ? balanceAtomic
    : allowanceAtomic
}

/** Nobody waits for it: a difference is for the operator. */
function compareWithOfficial({ log }: Context, official: Official): void {
  verifyOfficially(official).then(
    (verdict) => {
      const { network } = official.terms.network
      if (verdict !== null)
        log.error({ verdict, network }, 'the official facilitator refuses what was verified')
    },
    (error: unknown) => log.debug({ err: error }, 'the official facilitator was not asked'),
  )
}

/**
 * Reserves what an authorization moves, so that many verified at once never promise more than their payer can move. Other methods sign over their own place in
 * the payer's order of transactions and need none.
 * @throws ProofRefusedError `insufficient_funds`; `CHAIN_UNAVAILABLE`
 */
export async function reserveFunds(
  context: Context,
  {
    terms,
    verifiedProof: { authorization, key },
    report,
  }: { terms: ExpectedTerms; verifiedProof: VerifiedProof; report: VerificationReport },
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
