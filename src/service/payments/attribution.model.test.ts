import { expect, test } from 'vitest'
import { searchAttribution } from '#testing/model/attribution.ts'

/** The short form of `npm run model -- --only attribution`, from a random turn on: two runs play about every order of events once. */

const TURNS = 147

test(
  `of ${TURNS} orders of events, over all worlds in turn, none confirms an order of anybody but its payer`,
  { timeout: 240_000 },
  async () => {
    const { start, played, wrong } = await searchAttribution({ turns: TURNS })
    expect({ start, wrong: wrong.slice(0, 5) }).toEqual({ start, wrong: [] })
    expect(played).toBe(TURNS)
  },
)
