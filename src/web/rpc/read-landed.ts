import * as v from 'valibot'
import { isOneMove, readMoves, type TokenMove } from '#chains/evm/erc20.ts'
import { decodeLanded as decodeEvm } from '#chains/evm/landed.ts'
import { compareLanded as compareEvm } from '#chains/evm/compare.ts'
import { decodeLanded as decodeSolana, LANDED_OPTIONS } from '#chains/solana/landed.ts'
import { compareLanded as compareSolana } from '#chains/solana/compare.ts'
import type { PaymentIntent, Match } from '#chains/match.ts'
import { nativeAsset, type Network } from '#contract/network.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { callRpc } from './call.ts'

/** `exactly`: the transfers are this one payment and nothing else moved for either party. */
export type Moved = { moves: readonly TokenMove[]; exactly: boolean }

/** A transaction as the node shows it, compared with a payment. */
export type LandedReading =
  | { kind: 'absent' }
  | { kind: 'unreadable'; problem: DecodeProblem }
  | {
      kind: 'read'
      match: Match
      succeeded: boolean
      blockHeight: number
      feeAtomic: bigint
      /**
       * On EVM, the transfers logged by the payment's token, no matter who initiated them;
       * undefined elsewhere, and if unreadable.
       */
      moved?: Moved | undefined
    }

/** An RPC endpoint and the network it serves. */
export type RpcNode = { network: Network; url: string }

const quantity = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]+$/i),
  v.transform((text) => BigInt(text)),
)
const wholeQuantity = v.pipe(quantity, v.transform(Number))
const hex = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]*$/i),
  v.transform((text): `0x${string}` => `0x${text.slice(2)}`),
)

const EVM_TYPES: Readonly<Record<string, string>> = {
  '0x0': 'legacy',
  '0x1': 'eip2930',
  '0x2': 'eip1559',
  '0x3': 'eip4844',
  '0x4': 'eip7702',
}

const EvmTransaction = v.object({
  hash: v.string(),
  from: v.string(),
  to: v.nullable(v.string()),
  value: quantity,
  input: hex,
  nonce: wholeQuantity,
  gas: quantity,
  type: v.pipe(
    v.string(),
    v.transform((type) => EVM_TYPES[type] ?? type),
  ),
  chainId: v.optional(wholeQuantity),
  gasPrice: v.optional(quantity),
  maxFeePerGas: v.optional(quantity),
  maxPriorityFeePerGas: v.optional(quantity),
})

const EvmReceipt = v.object({
  transactionHash: v.string(),
  status: v.pipe(
    v.string(),
    v.transform((status): 'success' | 'reverted' => (status === '0x1' ? 'success' : 'reverted')),
  ),
  blockNumber: quantity,
  blockHash: v.string(),
  gasUsed: quantity,
  effectiveGasPrice: quantity,
  logs: v.array(v.object({ address: v.string(), topics: v.array(v.string()), data: v.string() })),
  /** A rollup's charge for the data. */
  l1Fee: v.nullish(quantity),
  operatorFeeScalar: v.nullish(quantity),
  operatorFeeConstant: v.nullish(quantity),
  daFootprintGasScalar: v.nullish(quantity),
})

/** @throws RpcError, or a ValiError when the node's answer has another shape */
export async function readEvmLanded(
  { network, url }: RpcNode,
  hash: string,
  intent: PaymentIntent,
): Promise<LandedReading> {
  const [transaction, receipt] = await Promise.all([
    callRpc(url, 'eth_getTransactionByHash', [hash]),
    callRpc(url, 'eth_getTransactionReceipt', [hash]),
  ])
  if (transaction === null || receipt === null) return { kind: 'absent' }
  const landed = decodeEvm(
    v.parse(EvmTransaction, transaction),
    v.parse(EvmReceipt, receipt),
    nativeAsset(network),
  )
  if (!landed.ok) return { kind: 'unreadable', problem: landed.problem }
  const { succeeded, blockHeight, feeAtomic } = landed
  const moves =
    intent.asset.native || !succeeded
      ? undefined
      : readMoves(v.parse(EvmReceipt, receipt).logs, intent.asset.address)
  const expected = { from: intent.sender, to: intent.recipient, amountAtomic: intent.amountAtomic }
  const moved = moves && { moves, exactly: isOneMove(moves, expected) }
  return {
    kind: 'read',
    match: compareEvm(intent, landed),
    succeeded,
    blockHeight,
    feeAtomic,
    moved,
  }
}

const TokenBalances = v.array(
  v.object({
    accountIndex: v.number(),
    mint: v.string(),
    owner: v.optional(v.string()),
    uiTokenAmount: v.object({ amount: v.string() }),
  }),
)

const SolanaTransaction = v.object({
  slot: v.number(),
  meta: v.nullable(
    v.object({
      err: v.unknown(),
      fee: v.number(),
      preTokenBalances: v.nullish(TokenBalances),
      postTokenBalances: v.nullish(TokenBalances),
    }),
  ),
  transaction: v.tuple([v.string(), v.literal('base64')]),
})

/** @throws RpcError, or a ValiError when the node's answer has another shape */
export async function readSolanaLanded(
  { url }: RpcNode,
  signature: string,
  intent: PaymentIntent,
): Promise<LandedReading> {
  const options = { encoding: 'base64', ...LANDED_OPTIONS }
  const answer = await callRpc(url, 'getTransaction', [signature, options])
  if (answer === null) return { kind: 'absent' }
  const { slot, meta, transaction } = v.parse(SolanaTransaction, answer)
  const bytes = Uint8Array.from(atob(transaction[0]), (char) => char.charCodeAt(0))
  const landed = decodeSolana({ slot, meta, transaction: bytes })
  if (!landed.ok) return { kind: 'unreadable', problem: landed.problem }
  return {
    kind: 'read',
    match: compareSolana(intent, landed),
    succeeded: landed.succeeded,
    blockHeight: landed.blockHeight,
    feeAtomic: landed.feeAtomic,
  }
}
