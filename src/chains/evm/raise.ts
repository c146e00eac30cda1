import { hexToBytes, serializeTransaction, type Hex } from 'viem'
import { decodeTransaction } from './decode.ts'

/** Nodes replace a transaction by one whose fees are both a tenth higher; an eighth is what they are asked with. */
const RAISE_NUMERATOR = 9n
const RAISE_DENOMINATOR = 8n
/** Wei per gas: a tip that is lower by less keeps nothing back that waits in a pool. */
const SMALL_TIP = 1_000_000_000n

/**
 * The same transaction with the same nonce at the fees of this moment, unsigned; undefined when the old fees are still good, or the cap (wei, in all)
 * leaves no room. Nodes replace a transaction only where both fees rise: so a priority fee that its payer named rises too, within the cap.
 * `pooled`: whether it waits in a pool; nodes may refuse one that does not for its tip.
 */
export function raiseFees(
  previous: Uint8Array,
  market: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint },
  { maxFeeAtomic, pooled }: { maxFeeAtomic: bigint; pooled: boolean },
): Uint8Array | undefined {
  const old = decodeTransaction(previous)
  if (!old.ok) return undefined
  const leastTip = raised(old.maxPriorityFeePerGas)
  // A tip that is too low keeps it back too, with any base fee.
  const isGood =
    market.maxFeePerGas <= old.maxFeePerGas &&
    market.maxPriorityFeePerGas < leastTip + (pooled ? SMALL_TIP : 0n)
  if (isGood) return undefined
  const maxFeePerGas = atLeast(market.maxFeePerGas, raised(old.maxFeePerGas))
  const maxPriorityFeePerGas = atLeast(market.maxPriorityFeePerGas, leastTip)
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
