/** Share of `max` that `value` is, from 0 to 1, to four digits. Amounts stay whole until here: a bar needs no more. */
export function shareOf(value: bigint, max: bigint): number {
  return max > 0n ? Number((value * 10_000n) / max) / 10_000 : 0
}

/** Height of a bar in pixels: what is there is seen, even when it is small beside the largest. */
export function barHeight(value: bigint, max: bigint, room: number): number {
  return value === 0n ? 0 : Math.max(2, shareOf(value, max) * room)
}

/** Which labels of `count` places are written, so that about `wanted` of them stand: always the first and the last. */
export function labelPositions(count: number, wanted: number): number[] {
  if (count <= wanted) return Array.from({ length: count }, (_, index) => index)
  const step = (count - 1) / (wanted - 1)
  return Array.from({ length: wanted }, (_, index) => Math.round(index * step))
}

export type Axis = {
  /** From one gridline to the next: 1, 2 or 5 with zeros. */
  step: bigint
  /** The highest gridline, and how far the lowest one is below zero; whole steps. */
  top: bigint
  bottom: bigint
}

/** A scale with round gridlines, about `wanted` of them, that reaches what is above and what is below zero. */
export function axisOf(above: bigint, below: bigint, wanted = 4): Axis {
  const total = above + below
  if (total === 0n) return { step: 1n, top: 1n, bottom: 0n }
  const least = ceil(total, BigInt(wanted))
  const power = 10n ** BigInt(least.toString().length - 1)
  const step =
    [1n, 2n, 5n].map((digit) => digit * power).find((each) => each >= least) ?? 10n * power
  return { step, top: ceil(above, step) * step, bottom: ceil(below, step) * step }
}

/** The values of the gridlines, the highest first. */
export function gridlines({ step, top, bottom }: Axis): bigint[] {
  return Array.from(
    { length: Number((top + bottom) / step) + 1 },
    (_, index) => top - BigInt(index) * step,
  )
}

function ceil(value: bigint, unit: bigint): bigint {
  return (value + unit - 1n) / unit
}
