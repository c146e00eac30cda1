import * as v from 'valibot'
import { encodeFunctionData, numberToHex, pad, parseAbi, toEventSelector, type Hex } from 'viem'
import { decodeAuthorization, domainSeparator, type TokenAuthorization } from '#chains/evm/token-authorization.ts'
import { isOneMove, readMoves } from '#chains/evm/erc20.ts'
import { checksumAddress } from '#contract/address.ts'
import { chainIdOf, type Network } from '#contract/network.ts'
import { serverNow } from '../../../clock.ts'
import type { Built, PaymentOrder, Reading, Simulation } from '../../../payment/order.ts'
import type { PaymentChain } from '../../../payment/ports.ts'
import { callRpc, RpcProblem, rpcUrlOf } from '../../../rpc/call.ts'

/** What the reader's own node shows of a token, and of an authorization that somebody else sends. */

const ABI = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function transfer(address to, uint256 value) returns (bool)',
])
const USED = toEventSelector('AuthorizationUsed(address,bytes32)')

const hex = v.pipe(v.string(), v.regex(/^0x[0-9a-f]*$/i), v.toLowerCase())
const quantity = v.pipe(
  hex,
  v.transform((text) => BigInt(text === '0x' ? '0x0' : text)),
)
const Block = v.object({ number: quantity, timestamp: quantity })
const Log = v.object({ address: v.string(), topics: v.array(v.string()), data: v.string() })
const Logs = v.array(v.object({ transactionHash: v.string() }))
const Receipt = v.object({
  status: v.string(),
  blockNumber: quantity,
  blockHash: v.string(),
  logs: v.array(Log),
})

export function authorizationChain(network: Network): PaymentChain {
  const node = readerOf(network)
  return {
    blockTimeMs: () => network.blockTimeMs,
    head: async () => {
      const [latest, finalized] = await Promise.all([node.block('latest'), node.block('finalized')])
      return { height: Number(latest.number), finalizedHeight: Number(finalized.number) }
    },
    // The payer signs a message: whoever sends it pays the network.
    feeCap: () => Promise.resolve(0n),
    knows: async (_order, bytes) => knowsDomain(node, network, bytes),
    simulate: async (order) => simulate(node, order),
    // The seller sends it.
    broadcast: () => Promise.resolve(),
    read: async (order, built) => {
      try {
        return await read(node, order, built)
      } catch {
        return { kind: 'unavailable', at: serverNow() }
      }
    },
  }

  async function read(from: Node, order: PaymentOrder, built: Built): Promise<Reading> {
    const decoded = decodeAuthorization(built.bytes)
    if (!decoded.ok) throw new Error(decoded.problem)
    const { authorization } = decoded
    const { message, domain } = authorization
    const [latest, finalized] = await Promise.all([from.block('latest'), from.block('finalized')])
    if (!(await isUsed(from, authorization))) {
      // No later block can be earlier: from here on the token refuses it for ever.
      const over = finalized.timestamp >= message.validBefore
      return over
        ? { kind: 'superseded', at: serverNow(), by: null, finalized: true }
        : { kind: 'absent', at: serverNow(), finalizedHeight: Number(finalized.number) }
    }
    const topics = [USED, pad(message.from), message.nonce]
    const found = await from.call('eth_getLogs', [{ address: domain.verifyingContract, fromBlock: numberToHex(built.builtHeight), toBlock: 'latest', topics }])
    const [log] = v.parse(Logs, found)
    // Used, and not by a transfer: the payer took it back.
    if (!log) return { kind: 'superseded', at: serverNow(), by: null, finalized: false }
    const receipt = v.parse(Receipt, await from.call('eth_getTransactionReceipt', [log.transactionHash]))
    const moves = readMoves(receipt.logs, order.asset.address)
    const paid = receipt.status === '0x1' && isOneMove(moves, { from: order.sender, to: order.recipient, amountAtomic: order.amountAtomic })
    const confirmations = Math.max(1, Number(latest.number - receipt.blockNumber) + 1)
    const { blockNumber, blockHash } = receipt
    return {
      kind: 'landed',
      at: serverNow(),
      outcome: paid ? 'paid' : 'other',
      failure: null,
      commitment: blockNumber <= finalized.number ? 'finalized' : confirmations >= network.confirmations ? 'confirmed' : 'processed',
      landed: {
        signature: log.transactionHash,
        height: Number(blockNumber),
        blockHash,
        confirmations,
        requiredConfirmations: network.confirmations,
        feeAtomic: 0n,
      },
    }
  }
}

type Node = ReturnType<typeof readerOf>

function readerOf(network: Network) {
  const call = (method: string, params: readonly unknown[]) => callRpc(rpcUrlOf(network), method, params)
  return {
    call,
    block: async (tag: string) => v.parse(Block, await call('eth_getBlockByNumber', [tag, false])),
    view: async (to: string, data: Hex, from?: string) => v.parse(hex, await call('eth_call', [{ to, data, ...(from && { from }) }, 'latest'])),
  }
}

async function isUsed(node: Node, { domain, message }: TokenAuthorization): Promise<boolean> {
  const data = encodeFunctionData({ abi: ABI, functionName: 'authorizationState', args: [message.from, message.nonce] })
  return BigInt(await node.view(domain.verifyingContract, data)) !== 0n
}

/** Whether this chain's token goes by the name that is signed: by any other, the signature would fit nothing, or something else. */
async function knowsDomain(node: Node, network: Network, bytes: Uint8Array): Promise<boolean | null> {
  const decoded = decodeAuthorization(bytes)
  if (!decoded.ok) return false
  const { domain } = decoded.authorization
  try {
    const [chainId, separator] = await Promise.all([
      node.call('eth_chainId', []),
      node.view(domain.verifyingContract, encodeFunctionData({ abi: ABI, functionName: 'DOMAIN_SEPARATOR' })),
    ])
    return Number(chainId) === chainIdOf(network.network) && separator === domainSeparator(decoded.authorization)
  } catch {
    return null
  }
}

/** The transfer without its signature, as if the payer sent it: a frozen account or a paused token shows here. */
async function simulate(node: Node, { asset, sender, recipient, amountAtomic }: PaymentOrder): Promise<Simulation> {
  const balanceOf = async (owner: string) => {
    const data = encodeFunctionData({ abi: ABI, functionName: 'balanceOf', args: [owner as Hex] })
    return v.parse(quantity, await node.view(asset.address, data))
  }
  try {
    const [held, received] = await Promise.all([balanceOf(sender), balanceOf(recipient)])
    if (held < amountAtomic) return { state: 'failed', reason: 'the account holds less than that.' }
    const data = encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [checksumAddress(recipient) as Hex, amountAtomic] })
    const moved = await node.view(asset.address, data, sender).catch((error: unknown) => {
      if (error instanceof RpcProblem && error.message.includes('refused')) return undefined
      throw error
    })
    if (moved === undefined || BigInt(moved) !== 1n) return { state: 'failed', reason: 'the token refuses this transfer.' }
    return {
      state: 'passed',
      changes: [
        { who: 'you', address: sender, asset, beforeAtomic: held, afterAtomic: held - amountAtomic },
        { who: 'recipient', address: recipient, asset, beforeAtomic: received, afterAtomic: received + amountAtomic },
      ],
    }
  } catch {
    return { state: 'unavailable', reason: 'your connection to the network did not answer.' }
  }
}
