import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'
import { STATES, type State } from './states.ts'

const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

/** Nothing for axe to find in this state, in either theme, and no page is wider than the phone. Leaves the page as wide as it was, in the light. */
export async function expectAccessible(page: Page, state: State): Promise<void> {
  const before = page.viewportSize() ?? DESK
  // Either theme at one of the two sizes, by turns: what is around all states is read in all four.
  const [bright, dark] = STATES.indexOf(state) % 2 === 0 ? [DESK, PHONE] : [PHONE, DESK]
  await expectNothingFound(page, { state, size: dark, colorScheme: 'dark' })
  await expectNothingFound(page, { state, size: bright, colorScheme: 'light' })
  await page.setViewportSize(before)
}

/** Colours change over some frames, and axe would read one of those between. Waiting for them can hang: a page nobody looks at may draw no frame. */
async function finishTransitions(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish()
  })
}

type Look = { state: State; size: { width: number; height: number }; colorScheme: 'light' | 'dark' }

async function expectNothingFound(page: Page, { state, size, colorScheme }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize(size)
  await finishTransitions(page)
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze()
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`),
    `${state}, ${colorScheme}, ${size.width} px, ${page.url()}`,
  ).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth), `the width of ${state}`).toBeLessThanOrEqual(size.width)
}
