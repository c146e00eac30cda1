import { isAddressEqual, type Address, type Hex, type Transaction } from 'viem'
import { recoverAuthorizationAddress } from 'viem/utils'
import { checksumAddress, parseAddress } from '#contract/address.ts'
import { fact } from '#contract/facts.ts'
import { NATIVE_ETH, type Asset } from '#contract/network.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { describeFacts, type EvmFacts } from './decode.ts'
import { readMoves, type ChainLog, type TokenMove } from './erc20.ts'

/** What a node says of a transaction (`eth_getTransactionByHash`), in viem's spelling. */
export type EvmChainTransaction = {
  hash: string
  from: string
  to: string | null
  value: bigint
  input: Hex
  nonce: number
  gas: bigint
  type: string
  chainId?: number | undefined
  gasPrice?: bigint | undefined
  maxFeePerGas?: bigint | undefined
  maxPriorityFeePerGas?: bigint | undefined
}

/** What a node says of its execution (`eth_getTransactionReceipt`), in viem's spelling. */
export type ChainReceipt = {
  transactionHash: string
  status: 'success' | 'reverted'
  blockNumber: bigint
  blockHash: string
  gasUsed: bigint
  effectiveGasPrice: bigint
  logs: readonly ChainLog[]
  /** A rollup's own charge for the transaction's data, wei; hex where viem does not know the chain. */
  l1Fee?: bigint | string | null | undefined
  /** What a rollup's operator charges by gas and by transaction; named where they are not both 0. */
  operatorFeeScalar?: bigint | string | null | undefined
  operatorFeeConstant?: bigint | string | null | undefined
  /** Named by rollups since Jovian, which changed the unit of the scalar. */
  daFootprintGasScalar?: bigint | number | string | null | undefined
}

export type EvmLandedFacts = EvmFacts & {
  sender: string
  hash: string
  succeeded: boolean
  blockHeight: number
  blockHash: string
  /** What the chain took, wei; a rollup's own charges are contained where its node tells them. */
  feeAtomic: bigint
  /** What the contract that was called, when it is a token, says it moved; undefined when it speaks another language. */
  moves: readonly TokenMove[] | undefined
}

export type EvmLandedPayment =
  | ({ ok: true } & EvmLandedFacts)
  | { ok: false; problem: DecodeProblem }

/** A wallet may send a payment as any of these: they move value the same way. Types 3 and 4 do more than that. */
const KNOWN_TYPES = ['legacy', 'eip2930', 'eip1559']

/** Reads what a node says of a landed transaction into the facts that the bytes of one give. */
export function decodeLanded(
  transaction: EvmChainTransaction,
  receipt: ChainReceipt,
  native: Asset = NATIVE_ETH,
): EvmLandedPayment {
  const { to, chainId, type, hash } = transaction
  if (!KNOWN_TYPES.includes(type))
    return { ok: false, problem: { code: 'transaction_type', params: { type: type.slice(0, 60) } } }
  if (receipt.transactionHash.toLowerCase() !== hash.toLowerCase())
    return { ok: false, problem: fact('foreign_receipt') }
  if (chainId === undefined) return { ok: false, problem: fact('no_chain') }
  if (to === null) return { ok: false, problem: fact('creates_contract') }
  if (!isAddress(to) || !isAddress(transaction.from))
    return { ok: false, problem: fact('endpoint_address') }
  const maxFeePerGas = transaction.maxFeePerGas ?? transaction.gasPrice
  if (maxFeePerGas === undefined) return { ok: false, problem: fact('no_fee') }
  const sender = checksumAddress(transaction.from)
  const facts = describeFacts(
    {
      chainId,
      nonce: transaction.nonce,
      gas: transaction.gas,
      maxFeePerGas,
      maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? maxFeePerGas,
      to,
      value: transaction.value,
      data: transaction.input,
      sender,
      hash,
    },
    native,
  )
  return {
    ok: true,
    ...facts,
    sender,
    hash,
    succeeded: receipt.status === 'success',
    blockHeight: Number(receipt.blockNumber),
    blockHash: receipt.blockHash,
    feeAtomic: feeOf(receipt),
    moves: receipt.status === 'success' ? readMoves(receipt.logs, facts.to) : [],
  }
}

type Charged = Pick<
  ChainReceipt,
  | 'gasUsed'
  | 'effectiveGasPrice'
  | 'l1Fee'
  | 'operatorFeeScalar'
  | 'operatorFeeConstant'
  | 'daFootprintGasScalar'
>

/** Execution and, on a rollup whose node tells them, the charges for the data and of the operator. */
export function feeOf(receipt: Charged): bigint {
  const { gasUsed, effectiveGasPrice, l1Fee } = receipt
  return gasUsed * effectiveGasPrice + BigInt(l1Fee ?? 0n) + operatorFeeOf(receipt)
}

/** @see OP Stack specification, "Operator Fee" of Isthmus and of Jovian */
function operatorFeeOf(receipt: Charged): bigint {
  const { gasUsed, operatorFeeScalar, operatorFeeConstant, daFootprintGasScalar } = receipt
  const byGas = gasUsed * BigInt(operatorFeeScalar ?? 0n)
  const isJovian = daFootprintGasScalar !== undefined && daFootprintGasScalar !== null
  return (isJovian ? byGas * 100n : byGas / 1_000_000n) + BigInt(operatorFeeConstant ?? 0n)
}

function isAddress(text: string): boolean {
  const parsed = parseAddress(text)
  return parsed.ok && parsed.family === 'evm'
}

/**
 * Whether an authorization of EIP-7702 in these transactions, by any sender, names this nonce of an account, for the transaction's chain or for every chain (0).
 * The chain skips one whose nonce is not the account's next: a transaction of the account with that nonce says more.
 */
export async function isUsedByAuthorization(
  transactions: readonly Pick<Transaction, 'authorizationList' | 'chainId'>[],
  { address, nonce }: { address: Address; nonce: number },
): Promise<boolean> {
  const authorizations = transactions.flatMap(({ authorizationList, chainId }) =>
    (authorizationList ?? []).filter(
      (authorization) =>
        authorization.nonce === nonce &&
        (authorization.chainId === 0 || authorization.chainId === chainId),
    ),
  )
  for (const authorization of authorizations) {
    // One that no key has signed is skipped by the chain too.
    const authority = await recoverAuthorizationAddress({ authorization }).catch(() => undefined)
    if (authority && isAddressEqual(authority, address)) return true
  }
  return false
}
