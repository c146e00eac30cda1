/** Lets through so many a second, with a second's worth at once. For one connection of one process; what counts over processes is in the database. */
export function createMeter(perSecond: number): { take(): boolean } {
  let tokens = perSecond
  let last = performance.now()
  return {
    take() {
      const now = performance.now()
      tokens = Math.min(perSecond, tokens + ((now - last) / 1000) * perSecond)
      last = now
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
  }
}
