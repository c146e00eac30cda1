/** Random choices that a seed repeats. */
export type SeededRng = {
  /** From 0 up to 1. */
  next: () => number
  /** A whole number, both ends included. */
  int: (least: number, most: number) => number
  pick: <T>(list: readonly T[]) => T
  /** Another sequence, which depends on the seed and this name alone. */
  fork: (name: string) => SeededRng
}

/** The sequence of a seed (mulberry32). It is no secret and protects nothing. */
export function createRng(seed: number): SeededRng {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    int,
    pick: (list) => {
      const chosen = list[int(0, list.length - 1)]
      if (chosen === undefined) throw new Error('There is nothing to choose from.')
      return chosen
    },
    fork: (name) => createRng(seed ^ hash(name)),
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
