import { expect, test } from 'vitest'
import { asksInPage } from './RunSteps.tsx'

test('a wallet that has the focus outside of the app asks in the page, and is in no toolbar', () => {
  const element = (inside: boolean) =>
    ({ closest: () => (inside ? {} : null) }) as unknown as Element
  const body = element(false) as HTMLElement
  expect(asksInPage({ activeElement: element(false), body })).toBe(true)
  expect(asksInPage({ activeElement: element(true), body })).toBe(false)
  expect(asksInPage({ activeElement: body, body })).toBe(false)
  expect(asksInPage({ activeElement: null, body })).toBe(false)
})
