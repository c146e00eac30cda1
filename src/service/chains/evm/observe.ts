import { TransactionNotFoundError, TransactionReceiptNotFoundError, type GetTransactionReturnType, type Hex } from 'viem'
import { checksumAddress, EVM_NATIVE } from '#contract/address.ts'
import type { Network } from '#contract/network.ts'
import type { Head, Observation, Transfer } from '../chain.ts'
import type { EvmEndpoints } from './client.ts'
import { readMoved } from './moved.ts'

/** What the chain knows of a transaction: in the pool, in a block of the present chain, or nothing. */
export function observe(endpoints: EvmEndpoints, network: Network, query: { hash: string; head: Head }): Promise<Observation> {
  const hash = query.hash as Hex
  return endpoints.ask(async (client): Promise<Observation> => {
    const transaction = await orUndefined(client.getTransaction({ hash }), TransactionNotFoundError)
    if (!transaction) return { state: 'not_found' }
    const transfer = readTransfer(transaction)
    if (transaction.blockNumber === null) return { state: 'pending', transfer }

    const [receipt, block] = await Promise.all([
      orUndefined(client.getTransactionReceipt({ hash }), TransactionReceiptNotFoundError),
      client.getBlock({ blockNumber: transaction.blockNumber }),
    ])
    // A receipt of a block that a reorg has replaced in the meantime counts for nothing.
    if (!receipt || receipt.blockHash !== block.hash) return { state: 'pending', transfer }
    const height = Number(receipt.blockNumber)
    return {
      state: 'landed',
      succeeded: receipt.status === 'success',
      height,
      blockHash: receipt.blockHash,
      confirmed: query.head.height - height + 1 >= network.confirmations,
      finalized: height <= query.head.finalizedHeight,
      feeAtomic: receipt.gasUsed * receipt.effectiveGasPrice,
      blockTime: new Date(Number(block.timestamp) * 1000),
      transfer,
      moved: readMoved(receipt.logs),
      failure: receipt.status === 'success' ? null : 'The transaction landed and was reverted: nothing was moved.',
    }
  })
}

/** Types 3 and 4 do more than move value; with data a call may do anything. */
const PLAIN_TYPES: readonly string[] = ['legacy', 'eip2930', 'eip1559']

/** The payment in native currency a transaction makes; null when it is anything else. */
export function readTransfer(transaction: Pick<GetTransactionReturnType, 'from' | 'to' | 'value' | 'input' | 'nonce' | 'type'>): Transfer | null {
  const { from, to, value, input, nonce, type } = transaction
  if (!to || input !== '0x' || value === 0n || !PLAIN_TYPES.includes(type)) return null
  return { sender: checksumAddress(from), recipient: checksumAddress(to), asset: EVM_NATIVE, amountAtomic: value, memo: null, nonce }
}

/** True when another block, or none yet, stands at the height a transaction was seen at. A node that is behind proves nothing. */
export function isGone(endpoints: EvmEndpoints, landed: { height: number; blockHash: string | null }): Promise<boolean> {
  return endpoints.ask(async (client) => {
    const head = await client.getBlockNumber()
    if (head < BigInt(landed.height)) return false
    const block = await client.getBlock({ blockNumber: BigInt(landed.height) })
    return block.hash !== landed.blockHash
  })
}

async function orUndefined<T>(answer: Promise<T>, absent: abstract new (...args: never) => Error): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof absent) return undefined
    throw error
  }
}
