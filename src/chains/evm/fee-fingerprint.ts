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
  const wanted = price.maxFeePerGas + (namedPriorityFee ? 0n : tipChange)
  const start = least(wanted, ceilingPerGas)
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
