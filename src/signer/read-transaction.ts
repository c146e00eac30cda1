import { createHash } from 'node:crypto'
import { decodeFunctionData, encodeFunctionData, isAddressEqual, type Abi, type Hex } from 'viem'
import { authorizationAbi, proxyAbi } from '#chains/evm/authorization.ts'
import { decodeTransaction, type EvmFacts } from '#chains/evm/decode.ts'
import { MAX_GAS } from '#chains/evm/fee.ts'
import { decodeTransaction as decodeSolana, type SolanaFacts } from '#chains/solana/decode.ts'
import {
  DEFAULT_COMPUTE_CAPS,
  MAX_GUARDS,
  readSurroundings,
  requireComputeUnits,
  requireSigners,
} from '#chains/solana/signed-rules.ts'
import type { Family } from '#contract/address.ts'
import { renderCheckFact } from '#contract/render-facts.ts'
import { ProblemError } from '#contract/problem.ts'
import type { PlainReasonCode } from '#contract/reasons.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'

/**
 * A settlement with a contract's signature of 2,048 bytes, the longest that is accepted, has 2,340. A rollup charges for data beside the gas, and no field of
 * a transaction bounds that charge.
 */
const MAX_CALL_BYTES = 2_400

/** What a transaction would cost its signer, as its bytes say. */
export type Spending = {
  /** A payment moves native currency of the wallet; of a settlement the wallet pays the network fee alone. */
  kind: 'payment' | 'settlement'
  /** `eip155:<chain id>`, or `solana`: a Solana transaction does not name its cluster. */
  network: string
  /** Whom a payment pays; null for a settlement. */
  recipient: string | null
  amountAtomic: bigint
  /** The most that the network may charge; a rollup's own charge for data is not named in a transaction, and not contained. */
  feeAtomic: bigint
  decimals: number
  /**
   * The same for transactions of which only one can ever land and which pay the same: on EVM the same wallet, chain, nonce, recipient, value and data, with
   * whatever fee. On Solana nothing prevents two messages from landing, so only the same message is the same.
   */
  identity: string
}

/** A transaction that the signer does not sign for any caller. */
export function refuseSigning(
  message: string,
  { reason, ...details }: Record<string, string> & { reason: PlainReasonCode },
): ProblemError {
  return new ProblemError('SIGNING_REFUSED', {
    message: `${message} Nothing was signed.`,
    reason,
    details,
  })
}

function notUnderstood(problem: string): ProblemError {
  return refuseSigning(`The signer does not sign this transaction: ${problem}`, {
    reason: 'not_understood',
    problem,
  })
}

/**
 * Decodes what a wallet is asked to sign.
 * @throws `SIGNING_REFUSED` for everything but a payment in native currency and a settlement of what others signed
 */
export function readTransaction(
  { family, address }: { family: Family; address: string },
  bytes: Uint8Array,
): Spending {
  if (family === 'evm') {
    const facts = decodeTransaction(bytes)
    if (!facts.ok) throw notUnderstood(renderDecodeProblem(facts.problem))
    return readEvm(address, facts)
  }
  const facts = decodeSolana(bytes)
  if (!facts.ok) throw notUnderstood(renderDecodeProblem(facts.problem))
  return readSolana(address, facts)
}

function readEvm(address: string, facts: EvmFacts): Spending {
  const { chainId, nonce, gas, to, valueAtomic, data, feeBoundAtomic } = facts
  if (facts.form !== 'unsigned') throw notUnderstood('it is signed already.')
  if (gas > MAX_GAS) throw notUnderstood(`its gas limit of ${gas} is above ${MAX_GAS}.`)
  const identity = hash([address, chainId, nonce, to, valueAtomic, data].join('\n'))
  const common = {
    network: `eip155:${chainId}`,
    feeAtomic: feeBoundAtomic,
    decimals: 18,
    identity,
  }
  if (data === '0x') {
    if (valueAtomic === 0n) throw notUnderstood('it moves nothing.')
    return { kind: 'payment', recipient: to, amountAtomic: valueAtomic, ...common }
  }
  if (valueAtomic > 0n) throw notUnderstood('it sends native currency with a contract call.')
  if (data.length > 2 + 2 * MAX_CALL_BYTES)
    throw notUnderstood(`its data has more than ${MAX_CALL_BYTES} bytes.`)
  const payer = readPayer(to, data)
  if (payer === undefined) throw notUnderstood('it calls a function that settles no payment.')
  if (isAddressEqual(payer, address as Hex))
    throw notUnderstood('it settles a payment of the wallet itself.')
  return { kind: 'settlement', recipient: null, amountAtomic: 0n, ...common }
}

/** Whose signed payment a call settles (EIP-3009 or Permit2), in its canonical encoding; undefined for every other call. */
function readPayer(to: string, data: Hex): Hex | undefined {
  const permit2 = isAddressEqual(to as Hex, EXACT_PERMIT2_PROXY)
  const abi: Abi = permit2 ? proxyAbi : authorizationAbi
  try {
    const { functionName, args } = decodeFunctionData({ abi, data })
    if (functionName !== (permit2 ? 'settle' : 'transferWithAuthorization')) return undefined
    if (encodeFunctionData({ abi, functionName, args }) !== data) return undefined
    const payer = args?.[permit2 ? 1 : 0]
    return typeof payer === 'string' ? (payer as Hex) : undefined
  } catch {
    return undefined
  }
}

function readSolana(address: string, facts: SolanaFacts): Spending {
  const { operations, signers, feePayer, message, feeBoundAtomic } = facts
  if (feePayer !== address) throw notUnderstood('the wallet is not its fee payer.')
  const { memos, units, prices, guards } = readSurroundings(facts)
  if (units.length > 1 || prices.length > 1)
    throw notUnderstood('it states its compute limit or price twice.')
  if (memos.length > 1) throw notUnderstood('it has more than one memo.')
  const unknown = operations.find(({ kind }) => kind === 'unknown' || kind === 'account_opened')
  if (unknown) throw notUnderstood('it has an instruction that neither pays nor limits the fee.')
  const transfers = operations.filter(
    (operation) => operation.kind === 'transfer' || operation.kind === 'token_transfer',
  )
  const [transfer] = transfers
  if (!transfer || transfers.length > 1) throw notUnderstood('it does not have one transfer.')
  const common = {
    network: 'solana',
    feeAtomic: feeBoundAtomic,
    decimals: 9,
    identity: hash(message),
  }
  if (transfer.kind === 'transfer' && transfer.from === address) {
    if (signers.length > 1) throw notUnderstood('it asks for the signature of another wallet.')
    if (guards > 0) throw notUnderstood('it has an instruction that only wallets add.')
    if (memos.some((memo) => memo.signers.some((signer) => signer !== address)))
      throw notUnderstood('its memo names another signer.')
    if (transfer.lamports === 0n) throw notUnderstood('it moves nothing.')
    return {
      kind: 'payment',
      recipient: transfer.to,
      amountAtomic: transfer.lamports,
      ...common,
    }
  }
  requireFeePayer(address, facts)
  return { kind: 'settlement', recipient: null, amountAtomic: 0n, ...common }
}

/** Others move their own money; the wallet pays the network fee, and is named by no instruction but as the payee of a transfer. */
function requireFeePayer(address: string, facts: SolanaFacts): void {
  const { guards, units, prices } = readSurroundings(facts)
  const signed = requireSigners(facts, { feePayer: address, signsLater: address })
  const wrong = [...Object.values(signed), requireComputeUnits(units, DEFAULT_COMPUTE_CAPS)].find(
    ({ ok }) => !ok,
  )
  if (wrong)
    throw notUnderstood(
      `expected ${renderCheckFact(wrong.expected)}, received ${renderCheckFact(wrong.got)}.`,
    )
  if (prices.some((price) => price > DEFAULT_COMPUTE_CAPS.microLamports))
    throw notUnderstood(
      `its compute price is above ${DEFAULT_COMPUTE_CAPS.microLamports} micro-lamports.`,
    )
  if (guards > MAX_GUARDS) throw notUnderstood(`it has more than ${MAX_GUARDS} guards.`)
  const named = facts.operations.some((operation) => {
    switch (operation.kind) {
      case 'transfer':
        return operation.from === address
      case 'memo':
        return operation.signers.includes(address)
      case 'guard':
        return operation.accounts.includes(address)
      default:
        return Object.values(operation).includes(address)
    }
  })
  if (named) throw notUnderstood('an instruction names the wallet, which pays the fee only.')
}

function hash(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}
