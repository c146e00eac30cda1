import {
  bytesToHex,
  decodeFunctionResult,
  encodeFunctionData,
  parseAbi,
  type Hex,
  type PublicClient,
} from 'viem'
import { refusal } from './simulate.ts'

/** Where every rollup of the OP stack (Base, OP Mainnet) prices the data of a transaction; other networks have nothing there. */
const ORACLE: Hex = '0x420000000000000000000000000000000000000F'
const abi = parseAbi(['function getL1Fee(bytes transaction) view returns (uint256)'])
/** The price follows the blocks of the chain below: an eighth at most from one to the next. */
const MARGIN_PERCENT = 25n

/** Clients of networks that have shown to have no such charge. */
const without = new WeakSet<PublicClient>()

/** What the network charges for a transaction's data beside its gas, with room for a rise, wei; 0 where there is no such charge. */
export async function readDataFee(client: PublicClient, unsigned: Uint8Array): Promise<bigint> {
  if (without.has(client)) return 0n
  const data = encodeFunctionData({ abi, functionName: 'getL1Fee', args: [bytesToHex(unsigned)] })
  try {
    const answer = (await client.call({ to: ORACLE, data })).data
    if (answer?.length !== 66) {
      without.add(client)
      return 0n
    }
    const fee = decodeFunctionResult({ abi, functionName: 'getL1Fee', data: answer })
    return fee + (fee * MARGIN_PERCENT) / 100n
  } catch (error) {
    if (refusal(error) === undefined) throw error
    return 0n
  }
}
