import { hexToBytes, serializeTransaction, type Hex } from 'viem'
import { decodeTransaction } from './decode.ts'

/** Nodes replace a transaction by one whose fees are both a tenth higher; an eighth is what they are asked with. */
const RAISE_NUMERATOR = 9n
const RAISE_DENOMINATOR = 8n

/**
 * The same transaction with the same nonce at the fees of this moment, unsigned; undefined when the old fees are still good, or the cap (wei, in all)
 * leaves no room.
 */
export function raiseFees(
  previous: Uint8Array,
  market: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint },
  maxFeeAtomic: bigint,
): Uint8Array | undefined {
  const old = decodeTransaction(previous)
  if (!old.ok || market.maxFeePerGas <= old.maxFeePerGas) return undefined
  const maxFeePerGas = atLeast(market.maxFeePerGas, raised(old.maxFeePerGas))
  const maxPriorityFeePerGas = atLeast(
    market.maxPriorityFeePerGas,
    raised(old.maxPriorityFeePerGas),
  )
  if (old.gas * maxFeePerGas > maxFeeAtomic || maxPriorityFeePerGas > maxFeePerGas) return undefined
  const { chainId, nonce, gas, to, valueAtomic, data } = old
  const fields = {
    type: 'eip1559',
    chainId,
    nonce,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to: to as Hex,
    value: valueAtomic,
    data,
  } as const
  return hexToBytes(serializeTransaction(fields))
}

function raised(price: bigint): bigint {
  return (price * RAISE_NUMERATOR + RAISE_DENOMINATOR - 1n) / RAISE_DENOMINATOR
}

function atLeast(value: bigint, least: bigint): bigint {
  return value < least ? least : value
}
