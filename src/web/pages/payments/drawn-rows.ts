/** Rows of a list by index, from the first to the last of them; none when `to` is below `from`. */
export type RowRange = { from: number; to: number }

/** Rows drawn beyond those in view, so that scrolling finds them drawn. */
const BEYOND = 8
/** Rows added per frame. Adding all at once delays the frame noticeably. */
const AT_ONCE = 3

/**
 * The next range to draw: the rows in view first, then some beyond, a few at a time. If no drawn
 * row is near, the rows that stay in view longest come first. The final range returns itself.
 */
export function nextDrawn(drawn: RowRange, sight: RowRange, count: number): RowRange {
  const far = { from: Math.max(0, sight.from - BEYOND), to: Math.min(count - 1, sight.to + BEYOND) }
  const kept = { from: Math.max(drawn.from, far.from), to: Math.min(drawn.to, far.to) }
  const down = drawn.from <= drawn.to && drawn.to < far.from
  const start = down ? sight.to + 1 : sight.from
  const { from, to } = kept.from <= kept.to ? kept : { from: start, to: start - 1 }
  let left = AT_ONCE
  const some = (wanted: number) => {
    const taken = Math.max(0, Math.min(left, wanted))
    left -= taken
    return taken
  }
  const seenTo = to + some(sight.to - to)
  const seenFrom = from - some(from - sight.from)
  const next = { to: seenTo + some(far.to - seenTo), from: seenFrom - some(seenFrom - far.from) }
  return next.from === drawn.from && next.to === drawn.to ? drawn : next
}
