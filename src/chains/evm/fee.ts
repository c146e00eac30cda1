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

const MIN_TIP = 1n
/** More than this, 5 gwei, is offered only where every recent block took more. */
const MAX_TIP = 5_000_000_000n

/**
 * The tip where the payer names none, wei per gas: the median of what recent blocks took. Single
 * dear blocks do not raise it above 5 gwei; a network whose nodes ask for more (Polygon) does.
 * @param tips of each block; 0 for a block without transactions
 */
export function automaticTip(tips: readonly bigint[]): bigint {
  const sorted = tips.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const median = sorted[Math.floor(sorted.length / 2)] ?? MIN_TIP
  const lowest = sorted.find((tip) => tip > 0n) ?? MIN_TIP
  const highest = lowest > MAX_TIP ? lowest : MAX_TIP
  const tip = median > highest ? highest : median
  return tip < MIN_TIP ? MIN_TIP : tip
}

/** Wei per gas. */
export type FeesPerGas = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

const BITS = 24
const SPAN = 1n << BigInt(BITS)
/** With fewer random bits in both fees together, they tie a transaction to nothing. */
const LEAST_BITS = 40

type Room = {
  /** Of the block that is to come. */
  baseFeePerGas: bigint
  ceilingPerGas: bigint
  /** The payer named the priority fee: it is never exceeded. */
  namedPriorityFee: boolean
  /** A whole number from 0 up to the limit, the limit left out. */
  random: (limit: bigint) => bigint
}

/**
 * Fees per gas with random last digits, so that the landed transaction is recognised as the one that was built for an order: 24 bits in each, upwards, and
 * downwards at a ceiling or below a named priority fee. The price of it is below 2^24 wei per gas, 4 * 10^-7 of the native currency for a plain transfer.
 * @returns `fingerprint`: null where both fees leave room for fewer than 40 bits
 */
export function addFingerprint(
  price: FeesPerGas,
  room: Room,
): FeesPerGas & { fingerprint: string | null } {
  const { baseFeePerGas, ceilingPerGas, namedPriorityFee, random } = room
  const tipSpan = namedPriorityFee
    ? least(SPAN, price.maxPriorityFeePerGas + 1n)
    : spanBelow(ceilingPerGas - baseFeePerGas - price.maxPriorityFeePerGas + 1n)
  const tipChange = random(tipSpan)
  const maxPriorityFeePerGas =
    price.maxPriorityFeePerGas + (namedPriorityFee ? -tipChange : tipChange)
  // The digits of the priority fee never push the whole fee above the ceiling.
  const uncapped = price.maxFeePerGas + (namedPriorityFee ? 0n : tipChange)
  const start = least(uncapped, ceilingPerGas)
  const [up, down] = [
    spanBelow(ceilingPerGas - start + 1n),
    spanBelow(start - baseFeePerGas - maxPriorityFeePerGas + 1n),
  ]
  const upwards = up >= down
  const feeChange = random(upwards ? up : down)
  const fees = { maxFeePerGas: start + (upwards ? feeChange : -feeChange), maxPriorityFeePerGas }
  const bits = bitsOf(tipSpan) + bitsOf(upwards ? up : down)
  return { ...fees, fingerprint: bits < LEAST_BITS ? null : formatFingerprint(fees) }
}

/** The form in which fingerprints are compared. */
export function formatFingerprint({ maxFeePerGas, maxPriorityFeePerGas }: FeesPerGas): string {
  return `${maxFeePerGas}:${maxPriorityFeePerGas}`
}

/** A whole number from 0 up to `limit`, the limit left out: uniform within 2^-40. */
export function randomBelow(limit: bigint): bigint {
  let value = 0n
  for (const byte of crypto.getRandomValues(new Uint8Array(8))) value = (value << 8n) | BigInt(byte)
  return value % limit
}

function spanBelow(room: bigint): bigint {
  return room < 1n ? 1n : least(SPAN, room)
}

/** Whole bits of a choice among so many. */
function bitsOf(span: bigint): number {
  return span.toString(2).length - 1
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
