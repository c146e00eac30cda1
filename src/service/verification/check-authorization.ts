import { erc20Abi, hexToBytes, parseAbi, type Hex } from 'viem'
import {
  canonicalSignature,
  type Authorization,
  type VerifiedAuthorization,
} from '#chains/evm/authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { recoverSigner } from '#chains/evm/token-authorization.ts'
import {
  addressFact,
  amountFact,
  fact,
  moneyOf,
  signedTime,
  type CheckFact,
} from '#contract/facts.ts'
import { chainIdOf } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Chain } from '../chains/chain.ts'
import type { ContractCall, ContractHolding, Contracts, Quote } from '../chains/contracts.ts'
import { authorizationDigest } from './authorization-digest.ts'
import { undecided, type VerificationReport } from './verification-report.ts'
import type { Context } from '../context/context.ts'
import { findRefusedPayer } from '../db/settlement-fees.ts'
import { checkTime, type ProofTime } from './proof-time.ts'
import type { ExpectedTerms } from './terms.ts'

const abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])
const VALID = '0x1626ba7e'

/** Ends the signature of an account that is not deployed yet (ERC-6492). The service deploys none. */
const UNDEPLOYED = /(?:6492){16}$/
/** An authorization that ends sooner may end before the next block. */
export const LEAST_LEFT_S = 6n

type Checked = {
  chain: Chain
  terms: ExpectedTerms
  authorization: Authorization
  report: VerificationReport
}

/** An EVM chain always has them; this keeps what is never so in one place. */
export function contractsOf({ contracts, network }: Chain): Contracts {
  if (!contracts) throw new TypeError(`${network.network} has no contracts.`)
  return contracts
}

/**
 * Whether the payer signed this: a key, with the low one of its two signatures, or a contract that says so itself.
 * @returns the authorization, with what verified its signature
 * @throws ProofRefusedError
 */
export async function checkSignature({
  chain,
  terms,
  authorization,
  report,
}: Checked): Promise<VerifiedAuthorization> {
  const contracts = contractsOf(chain)
  const { method, from, signature, token } = authorization
  const domain = method === 'permit2' ? { name: '', version: '' } : await contracts.domain(token)
  report.check('unsupported_method', {
    name: 'token_domain',
    source: 'chain',
    ok: domain !== null,
    expected: fact('token_with_authorizations'),
    got: domain ? fact('one') : fact('token_without_domain'),
  })
  const digest = authorizationDigest(authorization, {
    chainId: chainIdOf(terms.network.network),
    ...(domain ?? { name: '', version: '' }),
  })
  const signer = recoverSigner(digest, hexToBytes(signature))
  if (signer === from) {
    report.check('invalid_signature', {
      name: 'signature',
      source: 'proof',
      ok: true,
      expected: addressFact(from),
      got: addressFact(from),
    })
    return { ...authorization, signature: canonicalSignature(signature), signedBy: 'key' }
  }
  const undeployed = UNDEPLOYED.test(signature)
  const ok = !undeployed && (await confirmedByContract(contracts, { from, digest, signature }))
  const got = undeployed
    ? fact('undeployed_signature')
    : signer === undefined
      ? fact('unrecoverable_signature')
      : addressFact(signer)
  report.check('invalid_signature', {
    name: 'signature',
    source: 'chain',
    ok,
    expected: addressFact(from),
    got: ok ? addressFact(from) : got,
  })
  return { ...authorization, signedBy: 'contract' }
}

async function confirmedByContract(
  contracts: Contracts,
  { from, digest, signature }: { from: Hex; digest: Hex; signature: Hex },
): Promise<boolean> {
  if ((await contracts.code(from)) === undefined) return false
  try {
    return (
      (await contracts.read({
        address: from,
        abi,
        functionName: 'isValidSignature',
        args: [digest, signature],
      })) === VALID
    )
  } catch (error) {
    // What the chain cannot be asked now is thrown; a contract that refuses has answered.
    if (error instanceof ProblemError) throw error
    return false
  }
}

/**
 * Whether it could land in the next block.
 * @throws ProofRefusedError `outside_window` when it can never land any more; NotValidNowError when it is too early, or its end is not final yet
 */
export function checkValidity(
  { authorization, report }: Pick<Checked, 'authorization' | 'report'>,
  { latest, finalized }: ProofTime,
): void {
  const seconds = BigInt(Math.floor(latest.getTime() / 1000))
  const { validAfter, validBefore } = authorization
  // A permit is still good in a block of its very last second.
  const isOver = validBefore < BigInt(Math.floor(finalized.getTime() / 1000))
  const [from, until] = [validAfter <= seconds, validBefore >= seconds + LEAST_LEFT_S]
  const latestStart = { code: 'valid_from', params: { at: Number(seconds) * 1000 } } as const
  checkTime(
    report,
    {
      name: 'valid_after',
      source: 'proof',
      ok: from,
      expected: latestStart,
      got: signedTimeFact(validAfter),
    },
    isOver,
  )
  const leastEnd = {
    code: 'valid_until',
    params: { at: Number(seconds + LEAST_LEFT_S) * 1000 },
  } as const
  checkTime(
    report,
    {
      name: 'valid_before',
      source: 'proof',
      ok: until,
      expected: leastEnd,
      got: signedTimeFact(validBefore),
    },
    isOver,
  )
}

function signedTimeFact(seconds: bigint): CheckFact {
  const at = signedTime(seconds)
  return at === null ? fact('no_expiry') : { code: 'signed_time', params: { at } }
}

/** What the chain shows of an authorization's use. */
export function factOfUse({
  used,
  signature,
}: {
  used: boolean
  signature?: string | null
}): CheckFact {
  if (!used) return fact('never_executed')
  return signature
    ? { code: 'transaction', params: { transaction: signature } }
    : fact('executed_or_cancelled')
}

/** Whether the payer holds what it signed for, and on Permit2's way has let it be moved. What a token does not tell is left to the simulation. */
export async function checkFunds({ chain, terms, authorization, report }: Checked): Promise<void> {
  const { method, token, from, amountAtomic } = authorization
  const { read } = contractsOf(chain)
  const readToken = (functionName: 'allowance' | 'balanceOf', args: readonly Hex[]) =>
    numberOr(read({ address: token, abi: erc20Abi, functionName, args }), amountAtomic)
  const checked = { terms, authorization, report }
  if (method === 'permit2') checkAllowance(checked, await readToken('allowance', [from, PERMIT2]))
  checkBalance(checked, await readToken('balanceOf', [from]))
}

/** The same of what was read of the payer already. */
export function acceptFunds(
  checked: Funded,
  { balanceAtomic, allowanceAtomic }: ContractHolding,
): void {
  if (allowanceAtomic !== null) checkAllowance(checked, allowanceAtomic)
  checkBalance(checked, balanceAtomic)
}

type Funded = Omit<Checked, 'chain'>

function checkAllowance(checked: Funded, has: bigint): void {
  checkMoney(checked, has, ['permit2_allowance_required', 'allowance'])
}

function checkBalance(checked: Funded, has: bigint): void {
  checkMoney(checked, has, ['insufficient_funds', 'balance'])
}

function checkMoney(
  { terms: { asset }, authorization: { amountAtomic }, report }: Funded,
  has: bigint,
  [reason, name]: ['permit2_allowance_required' | 'insufficient_funds', string],
): void {
  report.check(reason, {
    name,
    source: 'chain',
    ok: has >= amountAtomic,
    expected: { code: 'at_least', params: moneyOf(amountAtomic, asset) },
    got: amountFact(has, asset),
  })
}

/**
 * A payer whose code made a settlement fail after a good simulation has none settled for a day: each
 * costs a wallet of the operator its network fee.
 * @throws ProofRefusedError `payer_refused`
 */
export async function checkPayer(
  { db }: Pick<Context, 'db'>,
  { chain, report }: Pick<Checked, 'chain' | 'report'>,
  payer: string,
): Promise<void> {
  const refused = await findRefusedPayer(db, { network: chain.network.network, payer })
  if (!refused) return
  const { transaction, refusedUntil } = refused
  throw report.refuse('payer_refused', {
    name: 'payer',
    source: 'record',
    expected: fact('no_failed_settlement'),
    got: { code: 'refused_until', params: { at: refusedUntil.getTime(), transaction } },
  })
}

/**
 * Simulates the execution of an authorization as `from` would broadcast it, and prices it.
 * @throws ProofRefusedError `simulation_failed`; `PAYMENT_VERIFICATION_FAILED` where only the next block
 * refuses it, or `from` holds too little
 */
export async function simulateExecution(
  { chain, report }: Pick<Checked, 'chain' | 'report'>,
  call: ContractCall & { from: string },
): Promise<Extract<Quote, { ok: true }>> {
  const quote = await contractsOf(chain).quote(call)
  if (!quote.ok && !quote.certain)
    throw undecided('The network would not execute the payment at this moment. Nothing is decided.')
  if (quote.ok) {
    acceptExecution(report)
    return quote
  }
  throw report.refuse('simulation_failed', { ...SIMULATION, got: quote.reason })
}

const SIMULATION = { name: 'simulation', source: 'chain', expected: fact('accepted') } as const

/** The same of what was executed in a simulation already. */
export function acceptExecution(report: VerificationReport): void {
  report.check('simulation_failed', { ...SIMULATION, ok: true, got: fact('accepted') })
}

async function numberOr(answer: Promise<unknown>, otherwise: bigint): Promise<bigint> {
  try {
    const value = await answer
    return typeof value === 'bigint' ? value : otherwise
  } catch (error) {
    if (error instanceof ProblemError) throw error
    return otherwise
  }
}
