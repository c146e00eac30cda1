import { PublicKey, type Connection } from '@solana/web3.js'
import {
  MAX_AUTOMATIC_UNIT_PRICE,
  MAX_UNIT_PRICE,
  priceOfPriorityFee,
  priorityFeeOfPrice,
} from '#chains/solana/fee.ts'
import { formatAmount } from '#contract/amount.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'

/** A transfer with its memo uses about a third; the rest is room for the guards a wallet adds. */
export const UNIT_LIMIT = 40_000

/**
 * Micro-lamports per compute unit: of the payer's own total, else of recent payments.
 * @throws ProblemError `INVALID_PARAMETERS` when the total is above what a transaction may offer
 */
export async function readUnitPrice(
  connection: Connection,
  accounts: readonly string[],
  priorityFeeAtomic: bigint | undefined,
): Promise<bigint> {
  return priorityFeeAtomic === undefined
    ? readRecentPrice(connection, accounts)
    : priceOfOwnFee(priorityFeeAtomic, UNIT_LIMIT)
}

/**
 * Micro-lamports per compute unit that three of four recent payments between these accounts stayed
 * below, and never more than the maximum that is offered without the payer's word.
 */
export async function readRecentPrice(
  connection: Connection,
  accounts: readonly string[],
): Promise<bigint> {
  const recent = await connection.getRecentPrioritizationFees({
    lockedWritableAccounts: accounts.map((account) => new PublicKey(account)),
  })
  const prices = recent
    .map(({ prioritizationFee }) => BigInt(prioritizationFee))
    .toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const price = prices[Math.floor(prices.length * 0.75)] ?? 0n
  return price > MAX_AUTOMATIC_UNIT_PRICE ? MAX_AUTOMATIC_UNIT_PRICE : price
}

/**
 * Micro-lamports per compute unit that spread the payer's own total over the limit.
 * @throws ProblemError `INVALID_PARAMETERS` when the total is above what a transaction may offer
 */
export function priceOfOwnFee(priorityFeeAtomic: bigint, unitLimit: number): bigint {
  const price = priceOfPriorityFee(priorityFeeAtomic, BigInt(unitLimit))
  if (price <= MAX_UNIT_PRICE) return price
  const most = formatAmount(
    priorityFeeOfPrice(MAX_UNIT_PRICE, BigInt(unitLimit)),
    NATIVE_SOL.decimals,
  )
  throw new ProblemError('INVALID_PARAMETERS', {
    message: `priorityFee is above the maximum of ${most}.`,
    details: {
      priorityFee: `Expected at most ${most}, received ${formatAmount(priorityFeeAtomic, NATIVE_SOL.decimals)}.`,
    },
  })
}
