import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const

/** On a desk and on a phone; and no page is wider than the phone. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const size of Object.values(SIZES)) {
    await page.setViewportSize(size)
    const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze()
    expect(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`),
      `${page.url()} at ${size.width} px`,
    ).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth), `the width of ${page.url()}`).toBeLessThanOrEqual(size.width)
  }
  await page.setViewportSize(SIZES.desk)
}

export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await expectAccessible(page)
  }
}
