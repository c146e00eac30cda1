import { expect, test } from 'vitest'
import { compareVerdicts } from './fuzz/compare-verdicts.ts'

/** The short form of `npm run fuzz:verify`. */

test(
  'what is verified at once is what the steps and the official package verify',
  { timeout: 300_000 },
  async () => {
    const { valid, looser, unequal } = await compareVerdicts({ count: 150, seed: 1 })
    expect([looser, unequal]).toEqual([[], []])
    // Cases that are all refused would show nothing.
    expect(valid).toBeGreaterThan(20)
  },
)

test('a simulation that executes everything is found', { timeout: 300_000 }, async () => {
  const { looser } = await compareVerdicts({ count: 150, seed: 1, believes: true })
  expect(looser.length).toBeGreaterThan(0)
})
