import { useLayoutEffect, useRef, useState, type RefObject } from 'react'
import { nextDrawn, type RowRange } from './drawn-rows.ts'

export type Rows = {
  count: number
  /** Pixels of each. */
  height: number
}

/** Who passes more of the screen than this in one frame reads nothing on the way: rows are drawn where they slow down. */
const FLYING = 1 / 4
/** While the page moves, drawing may make its frames late by this share of the time, so that a slow machine moves smoothly and draws less. */
const LATE = 1 / 5
/** What no screen calls late, and the longest that drawing rests, in milliseconds. */
const IN_TIME = 20
const LONGEST_REST = 500
/** Pixels that what stands at the upper and the lower edge of the page may cover. */
const EDGE = 120

/**
 * The rows of a list to draw, as the page scrolls. Each has its place from its index alone, so that no row that stays is laid out or painted
 * again when others come and go.
 */
export function useDrawnRows(
  list: RefObject<HTMLElement | null>,
  { count, height }: Rows,
): RowRange {
  const [drawn, setDrawn] = useState<RowRange>({ from: 0, to: -1 })
  const latest = useRef(drawn)
  useLayoutEffect(() => {
    let frame = 0
    let above: number | undefined
    let drewAt: number | undefined
    let restsUntil = 0

    function look(now: number) {
      frame = 0
      if (!list.current) return
      const top = -list.current.getBoundingClientRect().top
      const moved = Math.abs(top - (above ?? top))
      above = top
      // The frame after one that drew shows what drawing cost.
      if (drewAt !== undefined)
        restsUntil = now + Math.min(LONGEST_REST, Math.max(0, now - drewAt - IN_TIME) / LATE)
      drewAt = undefined
      if (moved > window.innerHeight * FLYING || (moved > 0 && now < restsUntil)) return soon()

      const rowAt = (pixels: number) =>
        Math.max(0, Math.min(count - 1, Math.floor(pixels / height)))
      const next = nextDrawn(
        latest.current,
        { from: rowAt(top), to: rowAt(top + window.innerHeight) },
        count,
      )
      if (next === latest.current) return
      latest.current = next
      setDrawn(next)
      drewAt = now
      soon()
    }
    function soon() {
      frame ||= requestAnimationFrame(look)
    }

    look(performance.now())
    window.addEventListener('scroll', soon, { passive: true })
    window.addEventListener('resize', soon)
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', soon)
      window.removeEventListener('resize', soon)
    }
  }, [list, count, height])
  return drawn
}

/** Scrolls a row into sight, clear of the page's edges. */
export function bringIntoSight(list: HTMLElement, index: number, height: number): void {
  const top = list.getBoundingClientRect().top + index * height
  const lowest = window.innerHeight - EDGE - height
  if (top < EDGE) window.scrollBy({ top: top - EDGE })
  else if (top > lowest) window.scrollBy({ top: top - lowest })
}
