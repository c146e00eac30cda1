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
