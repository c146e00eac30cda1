import { expect, test } from 'vitest'
import { searchAttribution } from '#testing/model/attribution.ts'

/** The short form of `npm run model -- --only attribution`, from a random turn on: three runs play about every order of events once. */

const TURNS = 98

test(`of ${TURNS} orders of events, over all worlds in turn, none confirms an order of anybody but its payer`, async () => {
  const { start, played, wrong } = await searchAttribution({ turns: TURNS })
  expect({ start, wrong: wrong.slice(0, 5) }).toEqual({ start, wrong: [] })
  expect(played).toBe(TURNS)
})
