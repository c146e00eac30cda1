import { keccak256, stringToBytes, type Hex, type PublicClient } from 'viem'
import { priorityFeeOfPrice } from '#chains/evm/fee.ts'
import { chainIdOf, type Network } from '#contract/network.ts'
import { senderProblem } from '#contract/reason-problems.ts'
import type { Ready } from '../chain.ts'
import type { BuiltCall, ContractCall } from '../contracts.ts'
import type { EvmEndpoints, EvmRpcClient } from './client.ts'
import { readDataFee, serializeCall } from './data-fee.ts'
import { readGasPrice } from './fees.ts'
import { nativeShortage } from '../shortage.ts'
import { refusal } from './simulate.ts'

/** How long the service accepts what it built; EVM itself has no such limit. */
const VALID_MS = 60_000
/** Margin for a contract whose gas use changes between the estimate and the block. */
const MARGIN_PERCENT = 25n
/** A transfer of one token that needs more is not meant to be executed. */
const MAX_GAS = 500_000n
/** Code of an account that a key still controls (EIP-7702). */
const DELEGATED = '0xef0100'

type CallRequest = ContractCall & { from: string; priorityFeeAtomic: bigint | undefined }

/**
 * Builds a call that moves none of the sender's money, with its next nonce and current fees, after
 * running it on the current state.
 */
export function buildCall(
  endpoints: EvmEndpoints,
  network: Network,
  request: CallRequest,
): Promise<BuiltCall> {
  return endpoints.request(async (client): Promise<BuiltCall> => {
    const { to, data, priorityFeeAtomic } = request
    const from = request.from as Hex
    const together = client.together()
    const [code, balance, estimated] = await Promise.all([
      together.getCode({ address: from }),
      together.getBalance({ address: from }),
      run(together, request),
    ])
    if (code !== undefined && !code.startsWith(DELEGATED))
      throw senderProblem({ code: 'sender_is_contract', params: {} })
    if (typeof estimated === 'string')
      return {
        ok: false,
        code: 'REFUSED',
        reason: { code: 'refused_with', params: { answer: estimated } },
      }
    const gas = estimated + (estimated * MARGIN_PERCENT) / 100n
    if (gas > MAX_GAS)
      return {
        ok: false,
        code: 'REFUSED',
        reason: { code: 'call_gas_too_high', params: { maxGas: Number(MAX_GAS) } },
      }
    const ready = await write(client, network, { from, to, data, gas, priorityFeeAtomic })
    const { feeAtomic } = ready
    if (balance >= feeAtomic) return ready
    return nativeShortage(network, { amountAtomic: 0n, feeAtomic, availableAtomic: balance })
  })
}

/** Gas of a note: a plain transfer, and 32 bytes that may all be nonzero. */
const NOTE_GAS = 30_000n

/**
 * Builds the transaction in which a payee confirms a payment to its payer, by the digest of a text.
 * It moves nothing.
 */
export function buildNote(
  endpoints: EvmEndpoints,
  network: Network,
  {
    payee,
    payer,
    text,
    priorityFeeAtomic,
  }: { payee: string; payer: string; text: string; priorityFeeAtomic: bigint | undefined },
): Promise<Ready> {
  const data = keccak256(stringToBytes(text))
  return endpoints.request((client) =>
    write(client, network, {
      from: payee as Hex,
      to: payer as Hex,
      data,
      gas: NOTE_GAS,
      priorityFeeAtomic,
    }),
  )
}

/** The gas a call needs now, or why the chain refuses it. */
async function run(
  client: PublicClient,
  { from, to, data }: CallRequest,
): Promise<bigint | string> {
  try {
    const [gas] = await Promise.all([
      client.estimateGas({ account: from as Hex, to, data }),
      client.call({ account: from as Hex, to, data }),
    ])
    return gas
  } catch (error) {
    const reason = refusal(error)
    if (reason === undefined) throw error
    return reason
  }
}

type Fields = { from: Hex; to: Hex; data: Hex; gas: bigint; priorityFeeAtomic: bigint | undefined }

async function write(
  client: EvmRpcClient,
  network: Network,
  { from, to, data, gas, priorityFeeAtomic }: Fields,
): Promise<Ready> {
  const [nonce, height, price] = await Promise.all([
    client.getTransactionCount({ address: from, blockTag: 'pending' }),
    client.getBlockNumber(),
    readGasPrice(client, gas, priorityFeeAtomic),
  ])
  const { maxFeePerGas, maxPriorityFeePerGas } = price
  const chainId = chainIdOf(network.network)
  const bytes = serializeCall({ ...price, chainId, nonce, gas, to, data })
  const dataFeeAtomic = await readDataFee(client, bytes, gas)
  return {
    ok: true,
    bytes,
    encoding: 'evm-rlp-unsigned',
    nonce,
    builtHeight: Number(height),
    lastValidBlockHeight: Number(height) + Math.ceil(VALID_MS / network.blockTimeMs),
    feeAtomic: gas * maxFeePerGas + dataFeeAtomic,
    priorityFeeAtomic: priorityFeeOfPrice(maxPriorityFeePerGas, gas),
    decoded: {
      type: 'eip1559',
      chainId,
      from,
      to,
      value: '0',
      data,
      nonce,
      gas: gas.toString(),
      maxFeePerGas: maxFeePerGas.toString(),
      maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
      ...(dataFeeAtomic > 0n && { dataFee: dataFeeAtomic.toString() }),
    },
  }
}
