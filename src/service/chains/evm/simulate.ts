import {
  BaseError,
  InsufficientFundsError,
  RpcRequestError,
  type Hex,
  type PublicClient,
} from 'viem'
import { MIN_GAS } from '#chains/evm/fee.ts'
import { MAX_RESPONSE_LENGTH, type RecipientReason } from '#contract/reasons.ts'
import { isTooLarge } from '../endpoints.ts'

/** A contract that needs more than this to take a plain transfer is not meant to be paid so. */
const MAX_CONTRACT_GAS = 100_000n
/** A rollup counts its data charge as gas; an account without code may need more than 21,000 there. */
const MAX_ACCOUNT_GAS = 1_000_000n
/** Room for a contract whose cost moves between the estimate and the block. */
const MARGIN_PERCENT = 25n

export type EvmSimulated =
  | { ok: true; gas: bigint }
  | { ok: false; short: true }
  | { ok: false; short: false; reason: RecipientReason }

/** Whether the recipient takes the amount, and the gas that needs. `short`: the sender does not hold the amount, or not any more. */
export async function simulateNativeTransfer(
  client: PublicClient,
  transfer: { sender: string; recipient: string; amountAtomic: bigint },
): Promise<EvmSimulated> {
  const request = {
    account: transfer.sender as Hex,
    to: transfer.recipient as Hex,
    value: transfer.amountAtomic,
  }
  try {
    const [code, gas] = await Promise.all([
      client.getCode({ address: request.to }),
      client.estimateGas(request),
    ])
    const limit = code === undefined ? MAX_ACCOUNT_GAS : MAX_CONTRACT_GAS
    const padded = gas <= MIN_GAS ? MIN_GAS : gas + (gas * MARGIN_PERCENT) / 100n
    if (padded <= limit) return { ok: true, gas: padded }
    return {
      ok: false,
      short: false,
      reason: { code: 'contract_gas_too_high', params: { maxGas: Number(limit) } },
    }
  } catch (error) {
    if (isShort(error)) return { ok: false, short: true }
    const answer = refusal(error)
    if (answer === undefined) throw error
    return { ok: false, short: false, reason: { code: 'contract_reverts', params: { answer } } }
  }
}

/** Whether the sender holds too little. A balance that was read a moment ago is gone when another payment of the sender lands in between. */
export function isShort(error: unknown): boolean {
  return (
    error instanceof BaseError &&
    error.walk((cause) => cause instanceof InsufficientFundsError) !== null
  )
}

const EXECUTION_FAILED =
  /revert|out ?of ?gas|invalid ?opcode|evm error|gas required exceeds|stack (over|under)flow|invalid jump|precompile/i
const REVERT_CODE = 3

/**
 * What the chain's virtual machine said when it refused to execute, or that a contract returns more than is read of it; undefined when the node
 * failed instead.
 */
export function refusal(error: unknown): string | undefined {
  if (isTooLarge(error)) return 'the contract returns too much'
  if (!(error instanceof BaseError)) return undefined
  const answer = error.walk((cause) => cause instanceof RpcRequestError)
  if (!(answer instanceof RpcRequestError)) return undefined
  if (answer.code !== REVERT_CODE && !EXECUTION_FAILED.test(answer.details)) return undefined
  return printable(answer.details) || 'execution reverted'
}

/** A contract chooses this text. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, ' ').slice(0, MAX_RESPONSE_LENGTH)
}
