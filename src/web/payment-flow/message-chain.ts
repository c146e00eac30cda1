import { t } from '@lingui/core/macro'
import * as v from 'valibot'
import { encodeFunctionData, erc20Abi, numberToHex, type Hex } from 'viem'
import { isOneMove, readMoves } from '#chains/evm/erc20.ts'
import { checksumAddress } from '#contract/address.ts'
import { chainIdOf, type Network } from '#contract/network.ts'
import { serverNow } from '../api/clock.ts'
import type {
  CheckedTransaction,
  WalletPaymentIntent,
  Reading,
  Simulation,
} from '../payment-intent/intent.ts'
import type { PaymentChain } from '../payment-intent/ports.ts'
import { RpcError } from '../rpc/call.ts'
import {
  openNode,
  quantity,
  readAllowance,
  readBalance,
  readMessage,
  type BlockId,
  type Message,
  type MessageBlock,
  type MessageNode,
} from './messages.ts'

/**
 * What the reader's own node shows of a token payment that the payer signs as a message and another
 * account sends.
 */

const Log = v.object({ address: v.string(), topics: v.array(v.string()), data: v.string() })
const Receipt = v.object({
  status: v.string(),
  blockNumber: quantity,
  blockHash: v.string(),
  logs: v.array(Log),
})

/** `permit`: by Permit2, which needs the payer's allowance for the token. */
export function messageChain(
  network: Network,
  { permit = false }: { permit?: boolean } = {},
): PaymentChain {
  const node = openNode(network)
  return {
    blockTimeMs: () => network.blockTimeMs,
    head: async () => {
      const [latest, finalized] = await Promise.all([node.block('latest'), node.block('finalized')])
      return { height: Number(latest.number), finalizedHeight: Number(finalized.number) }
    },
    // The payer signs a message: the account that sends it pays the network fee.
    feeCap: () => Promise.resolve(0n),
    knows: async (_order, bytes) => knows(node, network, bytes),
    simulate: async (order) => simulate(node, order, permit ? network : undefined),
    // The seller sends it.
    broadcast: () => Promise.resolve(),
    read: async (order, built) => {
      try {
        return await read({ node, network }, order, built)
      } catch {
        return { kind: 'unavailable', at: serverNow() }
      }
    },
  }
}

async function read(
  { node, network }: { node: MessageNode; network: Network },
  order: WalletPaymentIntent,
  built: CheckedTransaction,
): Promise<Reading> {
  const message = readMessage(built.bytes)
  const [latest, finalized] = await Promise.all([node.block('latest'), node.block('finalized')])
  if (!(await message.isUsed(node))) {
    const absent = { kind: 'absent', finalizedHeight: Number(finalized.number) } as const
    if (finalized.timestamp <= message.validBefore) return { ...absent, at: serverNow() }
    // Another node, that is behind, may have said that it is unused: only the state of a block
    // after its expiry proves it. Later blocks refuse it.
    return (await wasUsed(node, message, { finalized, latest }))
      ? { kind: 'unavailable', at: serverNow() }
      : { ...absent, at: serverNow(), over: true }
  }
  const hash = await message.find(node, order, built.builtHeight)
  // Used, but not by a transfer: the payer cancelled it.
  if (hash === undefined) return { kind: 'superseded', at: serverNow(), by: null, finalized: false }
  const receipt = v.parse(Receipt, await node.call('eth_getTransactionReceipt', [hash]))
  const moves = readMoves(receipt.logs, order.asset.address)
  const paid =
    receipt.status === '0x1' &&
    isOneMove(moves, { from: order.sender, to: order.recipient, amountAtomic: order.amountAtomic })
  const confirmations = Math.max(1, Number(latest.number - receipt.blockNumber) + 1)
  const { blockNumber, blockHash } = receipt
  return {
    kind: 'landed',
    at: serverNow(),
    outcome: paid ? 'paid' : 'other',
    failure: null,
    commitment:
      blockNumber <= finalized.number
        ? 'finalized'
        : confirmations >= network.confirmations
          ? 'confirmed'
          : 'processed',
    landed: {
      signature: hash,
      height: Number(blockNumber),
      blockHash,
      confirmations,
      requiredConfirmations: network.confirmations,
      feeAtomic: 0n,
    },
  }
}

/**
 * Whether it was used up to a finalized block, in the state of that block. Where nodes do not serve
 * that state, the newest block proves the same: no use is ever undone.
 * @throws what the last node said, where none has the state of a block
 */
async function wasUsed(
  node: MessageNode,
  message: Message,
  { finalized, latest }: { finalized: MessageBlock; latest: MessageBlock },
): Promise<boolean> {
  const blocks = latest.number > finalized.number ? [finalized, latest] : [finalized]
  // By its hash first: a number may be another block on another node.
  const ids = blocks.flatMap(({ hash, number }): BlockId[] => [
    { blockHash: hash, requireCanonical: true },
    numberToHex(number),
  ])
  let problem: unknown
  for (const at of ids)
    try {
      return await message.isUsed(node, at)
    } catch (error) {
      // Old state may be refused by HTTP 403 or by any code.
      if (!(error instanceof RpcError)) throw error
      problem = error
    }
  throw problem
}

async function knows(
  node: MessageNode,
  network: Network,
  bytes: Uint8Array,
): Promise<boolean | null> {
  let message: ReturnType<typeof readMessage>
  try {
    message = readMessage(bytes)
  } catch {
    return false
  }
  try {
    const [chainId, known] = await Promise.all([
      node.call('eth_chainId', []),
      message.isKnown(node),
    ])
    return (
      Number(chainId) === chainIdOf(network.network) && message.chainId === Number(chainId) && known
    )
  } catch {
    return null
  }
}

/**
 * The transfer without its signature, as if the payer sent it: reveals a frozen account or a paused
 * token.
 */
async function simulate(
  node: MessageNode,
  { asset, sender, recipient, amountAtomic }: WalletPaymentIntent,
  permitted: Network | undefined,
): Promise<Simulation> {
  try {
    const [balance, received, allowed] = await Promise.all([
      readBalance(node, asset.address, sender),
      readBalance(node, asset.address, recipient),
      permitted ? readAllowance(permitted, asset.address, sender) : amountAtomic,
    ])
    if (balance < amountAtomic) return { state: 'failed', reason: t`the balance is too low.` }
    if (allowed < amountAtomic)
      return {
        state: 'failed',
        reason: t`the Permit2 allowance is too low.`,
      }
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [checksumAddress(recipient) as Hex, amountAtomic],
    })
    const moved = await node.view(asset.address, data, { from: sender }).catch((error: unknown) => {
      if (error instanceof RpcError && error.refused) return undefined
      throw error
    })
    // Some old tokens return nothing where others return true.
    if (moved === undefined || (moved !== '0x' && BigInt(moved) !== 1n))
      return { state: 'failed', reason: t`the token rejects it.` }
    return {
      state: 'passed',
      changes: [
        {
          who: 'you',
          address: sender,
          asset,
          beforeAtomic: balance,
          afterAtomic: balance - amountAtomic,
        },
        {
          who: 'recipient',
          address: recipient,
          asset,
          beforeAtomic: received,
          afterAtomic: received + amountAtomic,
        },
      ],
    }
  } catch {
    return { state: 'unavailable', reason: t`the RPC endpoint did not answer.` }
  }
}
