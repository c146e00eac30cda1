/** What an EVM transaction can cost. All amounts are wei; all arithmetic is exact. */

/** What a plain transfer to an account without code uses; less is refused by every node. */
export const MIN_GAS = 21_000n
/** A recipient that is a contract uses more, and so does a token; a transfer that asks for more than this is not one. */
export const MAX_GAS = 1_000_000n

/** 0.005 of the native currency: a plain transfer at 238 gwei, some ten times what a busy day on Ethereum asks. */
const DEFAULT_MAX_FEE_WEI = 5_000_000_000_000_000n
/** A token's transfer uses three times the gas of a plain one, padding included: 0.015 is the same price per gas. */
const DEFAULT_MAX_TOKEN_FEE_WEI = 15_000_000_000_000_000n

/**
 * The most a payer agrees to pay the network, when nothing tighter is known: 0.005 of the native currency (0.015 for a token), and on top
 * of it the priority fee the payer named. It is decided here, in the payer's program, and never by who built the transaction.
 */
export function maxFeeAtomic(
  priorityFeeAtomic = 0n,
  asset: { native: boolean } = { native: true },
): bigint {
  return (asset.native ? DEFAULT_MAX_FEE_WEI : DEFAULT_MAX_TOKEN_FEE_WEI) + priorityFeeAtomic
}

/** Upper bound of the network's charge in wei. A rollup's own charge for its data is not named in a transaction and not contained. */
export function feeBoundAtomic(transaction: { gas: bigint; maxFeePerGas: bigint }): bigint {
  return transaction.gas * transaction.maxFeePerGas
}

/** `maxPriorityFeePerGas` for a total priority fee. Rounds down: the total is never exceeded. */
export function priceOfPriorityFee(priorityFeeAtomic: bigint, gas: bigint): bigint {
  return priorityFeeAtomic / gas
}

/** The most the validator gets of a transaction: the total of `maxPriorityFeePerGas` over its gas. */
export function priorityFeeOfPrice(maxPriorityFeePerGas: bigint, gas: bigint): bigint {
  return maxPriorityFeePerGas * gas
}
