/** What a Solana transaction can cost. All amounts are lamports; all arithmetic is exact. */

export const LAMPORTS_PER_SIGNATURE = 5_000n
const MICRO_LAMPORTS = 1_000_000n

/**
 * The most compute units a payment in SOL may request; a transfer with a memo and three guards uses
 * less than half.
 */
export const MAX_UNITS = 60_000
/**
 * The most a token payment may request: opening the recipient's account searches for its address on
 * chain, which is sometimes slow.
 */
export const MAX_TOKEN_UNITS = 200_000
/**
 * The most a payment may offer per unit, in micro-lamports: enough to spend a priority fee of 0.01
 * SOL on 10,000 units.
 */
export const MAX_UNIT_PRICE = 1_000_000_000n
/** The highest automatic price, in micro-lamports per unit, regardless of recent fees. */
export const MAX_AUTOMATIC_UNIT_PRICE = 50_000n

/** The cluster's limits for a transaction that sets none: per instruction, and in total. */
const DEFAULT_UNITS_PER_INSTRUCTION = 200_000
const MAX_DEFAULT_UNITS = 1_400_000

/** 0.0005 SOL: a hundred signatures' worth, some fifty times the highest automatic fee. */
const DEFAULT_MAX_FEE_LAMPORTS = 500_000n

/**
 * The most a payer agrees to pay the cluster when nothing tighter is known: 0.0005 SOL plus the
 * priority fee the payer named. It does not include the rent of a token account. The payer's
 * program decides it, never the builder of the transaction.
 */
export function maxFeeAtomic(priorityFeeAtomic = 0n): bigint {
  return DEFAULT_MAX_FEE_LAMPORTS + priorityFeeAtomic
}

export type FeeFacts = {
  signatures: number
  instructions: number
  /** As set by the transaction; undefined where it sets none. */
  unitLimit: number | undefined
  unitPriceMicroLamports: bigint | undefined
}

/**
 * Upper bound of the network's charge in lamports: every signature, plus the priority fee of every
 * requested unit.
 */
export function feeBoundAtomic(transaction: FeeFacts): bigint {
  const units =
    transaction.unitLimit ??
    Math.min(MAX_DEFAULT_UNITS, transaction.instructions * DEFAULT_UNITS_PER_INSTRUCTION)
  return (
    BigInt(transaction.signatures) * LAMPORTS_PER_SIGNATURE +
    priorityFeeOfPrice(transaction.unitPriceMicroLamports ?? 0n, BigInt(units))
  )
}

/** Micro-lamports per unit for a total priority fee. Rounds down: the total is never exceeded. */
export function priceOfPriorityFee(priorityFeeAtomic: bigint, unitLimit: bigint): bigint {
  return (priorityFeeAtomic * MICRO_LAMPORTS) / unitLimit
}

/** What the validator gets for a price over a limit. Rounds up, as the cluster does. */
export function priorityFeeOfPrice(unitPriceMicroLamports: bigint, unitLimit: bigint): bigint {
  return (unitPriceMicroLamports * unitLimit + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS
}

/**
 * The rent of an account: two years at 3,480 lamports for each byte, and for 128 bytes of overhead
 * per account.
 */
const LAMPORTS_PER_BYTE = 6_960n
const OVERHEAD_BYTES = 128n
/**
 * A token account of the older program has 165 bytes; the extensions that Token-2022 lets a mint
 * ask for add less than 100.
 */
const MAX_TOKEN_ACCOUNT_BYTES = 265n

/**
 * The most that opening one token account can cost its payer. The chain knows the exact figure; the
 * money stays in the account.
 */
export const MAX_TOKEN_ACCOUNT_RENT = LAMPORTS_PER_BYTE * (OVERHEAD_BYTES + MAX_TOKEN_ACCOUNT_BYTES)
