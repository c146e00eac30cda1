import {
  bytesToHex,
  encodeFunctionData,
  hexToBytes,
  parseAbi,
  serializeTransaction,
  type Hex,
  type PublicClient,
} from 'viem'
import { chainIdOf, type Network } from '#contract/network.ts'
import type { ContractCall, GasPrice } from '../contracts.ts'
import type { EvmRpcClient } from './client.ts'
import { readGasPrice } from './fees.ts'
import { refusal } from './simulate.ts'

/** What a rollup charges for a transaction beside its gas. */

/**
 * Where every rollup of the OP stack (Base, OP Mainnet) prices the data of a transaction; other
 * networks have nothing there.
 */
const ORACLE: Hex = '0x420000000000000000000000000000000000000F'
const abi = parseAbi([
  'function getL1Fee(bytes transaction) view returns (uint256)',
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
])
/** The price follows the blocks of the chain below: an eighth at most from one to the next. */
const MARGIN_PERCENT = 25n
const WORD_LENGTH = 2 + 64
/** A nonce as long as any, where the transaction has none yet. */
const LONG_NONCE = 2 ** 32 - 1

/** Clients of networks that have shown to have no such charge. */
const unsupported = new WeakSet<PublicClient>()

/**
 * What the network charges for a transaction's data and for its operator beside its gas, with room
 * for a rise, wei; 0 where there is no such charge.
 * @param gas limit of the transaction
 */
export async function readDataFee(
  client: EvmRpcClient,
  unsigned: Uint8Array,
  gas: bigint,
): Promise<bigint> {
  const fee = await readDataFeeNow(client, unsigned, gas)
  return fee + (fee * MARGIN_PERCENT) / 100n
}

/** The same in the newest block, as a node compares it with the sender's balance. */
export async function readDataFeeNow(
  client: EvmRpcClient,
  unsigned: Uint8Array,
  gas: bigint,
): Promise<bigint> {
  if (unsupported.has(client)) return 0n
  const transaction = bytesToHex(unsigned)
  const together = client.together()
  const [dataFee, operatorFee] = await Promise.all([
    readOracle(
      together,
      encodeFunctionData({ abi, functionName: 'getL1Fee', args: [transaction] }),
    ),
    readOracle(together, encodeFunctionData({ abi, functionName: 'getOperatorFee', args: [gas] })),
  ])
  if (dataFee === null) unsupported.add(client)
  return (dataFee ?? 0n) + (operatorFee ?? 0n)
}

/** Null where there is no oracle; 0 where it has no such function, as before Isthmus. */
async function readOracle(client: PublicClient, data: Hex): Promise<bigint | null> {
  try {
    const answer = (await client.call({ to: ORACLE, data })).data
    return answer?.length === WORD_LENGTH ? BigInt(answer) : null
  } catch (error) {
    if (refusal(error) === undefined) throw error
    return 0n
  }
}

type UnsignedCall = ContractCall &
  GasPrice & { chainId: number; gas: bigint; nonce: number; value?: bigint }

/** A call, unsigned; without value where it names none. */
export function serializeCall(call: UnsignedCall): Uint8Array {
  const { chainId, to, data, value = 0n, gas, nonce, maxFeePerGas, maxPriorityFeePerGas } = call
  const fees = { gas, maxFeePerGas, maxPriorityFeePerGas }
  return hexToBytes(
    serializeTransaction({ type: 'eip1559', chainId, nonce, ...fees, to, value, data }),
  )
}

/** The current price of a call with this much gas, and what its data costs beside it. */
export async function priceCall(
  client: EvmRpcClient,
  network: Network,
  call: ContractCall & { gas: bigint },
): Promise<GasPrice & { dataFeeAtomic: bigint }> {
  const { maxFeePerGas, maxPriorityFeePerGas } = await readGasPrice(client, call.gas)
  const price = { maxFeePerGas, maxPriorityFeePerGas }
  const chainId = chainIdOf(network.network)
  const unsigned = serializeCall({ ...call, ...price, chainId, nonce: LONG_NONCE })
  return { ...price, dataFeeAtomic: await readDataFee(client, unsigned, call.gas) }
}
