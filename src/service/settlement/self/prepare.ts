import { callOf, type Authorization } from '#chains/evm/authorization.ts'
import { fact } from '#contract/facts.ts'
import { familyOf } from '#contract/network.ts'
import { balanceProblem } from '#contract/reason-problems.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Context } from '../../context/context.ts'
import { chainOf } from '../../context/network.ts'
import { nativeShortage } from '../../chains/shortage.ts'
import {
  checkSignature,
  checkValidity,
  contractsOf,
  factOfUse,
} from '../../verification/check-authorization.ts'
import { validateMemo } from '../../verification/validate-transfer.ts'
import { orUndecided, type Job } from '../outcome.ts'
import { readProofTime } from '../../verification/proof-time.ts'
import { simulateSigned } from '../../verification/simulate-signed.ts'
import { LIFETIME_BLOCKS } from '../settle.ts'
import { feePayerFee, type FeePayerFee } from '../facilitator-wallet.ts'

type Reply = EndpointReply<'transactionReceive'>

/** The transaction that settles a proof, and the facts about it. */
export type Prepared = Pick<
  Reply,
  'settlement' | 'kind' | 'encoding' | 'signer' | 'lastValidBlockHeight' | 'decoded'
> & {
  bytes: Uint8Array
  /** The most it costs the payee; null where the payer pays. */
  fee: FeePayerFee | null
  builtHeight: number
  /**
   * Unix milliseconds until which the payer's signature is valid; null where the chain counts
   * heights.
   */
  goodUntil: number | null
}

/** A nonce has no such end; it counts as valid for this long. */
const NONCE_MS = 60_000

/**
 * Checks with the chain that the proof would settle now, and builds what settles it.
 * @throws ProofRefusedError; `INSUFFICIENT_BALANCE`; `PAYMENT_VERIFICATION_FAILED`, `CHAIN_UNAVAILABLE`
 */
export async function prepare(
  context: Context,
  job: Job,
  priorityFeeAtomic: bigint | undefined,
): Promise<Prepared> {
  const chain = chainOf(context, job.terms.network.network)
  const { authorization, bytes } = job.verifiedProof
  if (authorization) return prepareCall(context, job, { chain, authorization, priorityFeeAtomic })
  if (!bytes) throw new TypeError('A payment that the payer has made already is not prepared.')
  return prepareSigned(context, job, { chain, bytes })
}

type AuthorizationCall = {
  chain: Chain
  authorization: Authorization
  priorityFeeAtomic: bigint | undefined
}

/** What the payer of a token signed, as a call that the payee makes. */
async function prepareCall(
  context: Context,
  job: Job,
  { chain, authorization, priorityFeeAtomic }: AuthorizationCall,
): Promise<Prepared> {
  const { terms, report, deadline } = job
  const verified = await orUndecided(
    deadline.within(checkSignature({ chain, terms, authorization, report })),
  )
  const use = await orUndecided(deadline.within(contractsOf(chain).findUse(authorization)))
  // On-chain data is public, and anybody could present it.
  report.check('already_used', {
    name: 'fresh',
    source: 'chain',
    ok: !use.used,
    expected: fact('never_executed'),
    got: factOfUse(use),
  })
  checkValidity(
    { authorization, report },
    await orUndecided(deadline.within(readProofTime(context, terms.network.network))),
  )
  const built = await orUndecided(
    deadline.within(
      contractsOf(chain).build({ ...callOf(verified), from: terms.payTo, priorityFeeAtomic }),
    ),
  )
  if (!built.ok && built.code === 'INSUFFICIENT_BALANCE') throw balanceProblem(built.reason)
  const simulated = built.ok ? fact('accepted') : built.reason
  report.check('simulation_failed', {
    name: 'simulation',
    source: 'chain',
    ok: built.ok,
    expected: fact('accepted'),
    got: simulated,
  })
  if (!built.ok) throw new TypeError('The check above has refused this.')
  const { bytes, encoding, lastValidBlockHeight, builtHeight, decoded } = built
  return {
    settlement: 'required',
    kind: authorization.method,
    bytes,
    encoding,
    signer: terms.payTo,
    lastValidBlockHeight,
    builtHeight,
    decoded,
    fee: built,
    goodUntil: Number(authorization.validBefore) * 1000,
  }
}

/**
 * The payer's own transaction, complete except for the signature of a payee that pays the
 * network fee.
 */
async function prepareSigned(
  context: Context,
  job: Job,
  { chain, bytes }: { chain: Chain; bytes: Uint8Array },
): Promise<Prepared> {
  const { terms, verifiedProof, deadline } = job
  const evm = familyOf(terms.network.network) === 'evm'
  await validateMemo(context, job, verifiedProof.memo)
  await orUndecided(deadline.within(simulateSigned(job, chain, bytes)))
  const head = await orUndecided(deadline.within(chain.head()))
  const signer = verifiedProof.feePayer ?? null
  const fee = signer === null ? null : await feeOfFeePayer(chain, { bytes, feePayer: signer })
  return {
    settlement: signer === null ? 'broadcast_only' : 'required',
    kind: evm ? 'signed-transaction' : terms.asset.native ? 'native-transfer' : 'token-transfer',
    bytes,
    encoding: evm ? 'evm-rlp-signed' : 'solana-wire-v0',
    signer,
    lastValidBlockHeight: evm
      ? head.height + Math.ceil(NONCE_MS / terms.network.blockTimeMs)
      : head.blockHeight + LIFETIME_BLOCKS,
    builtHeight: head.height,
    decoded: {},
    fee,
    goodUntil: null,
  }
}

/**
 * What the payer's transaction takes from the payee, who must hold it: the payer chose the limits,
 * which were checked against ours.
 */
async function feeOfFeePayer(
  chain: Chain,
  { bytes, feePayer }: { bytes: Uint8Array; feePayer: string },
): Promise<FeePayerFee> {
  const fee = feePayerFee(bytes)
  const { feeAtomic } = fee
  const { balanceAtomic } = await chain.funds(feePayer, async () => [])
  if (balanceAtomic < feeAtomic)
    throw balanceProblem(
      nativeShortage(chain.network, { amountAtomic: 0n, feeAtomic, availableAtomic: balanceAtomic })
        .reason,
    )
  return fee
}
