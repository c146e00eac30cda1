import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { connect, connectOnForm, expectPaid, openCheckout, review, signButton } from './checkout.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'

// Twenty pages and states, each in two sizes, read whole by axe.
test.describe.configure({ timeout: 240_000 })

const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const

for (const theme of ['light', 'dark'] as const) {
  test(`every page is accessible in the ${theme} theme`, async ({ seller }) => {
    const { page } = await seller()
    await page.emulateMedia({ colorScheme: theme })
    for (const path of ['/', '/pay', '/payments', '/links', '/verify', '/explore', '/developers', '/settings', '/nowhere']) {
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expectAccessible(page)
    }

    await page.goto('/payments')
    await connect(page, 'MetaMask')
    await page.getByRole('button', { name: /^Sign in as/ }).click()
    const table = page.getByRole('table', { name: /Payments/ })
    await expect(table).toBeVisible()
    await expectAccessible(page)

    await table.getByRole('link').first().click()
    await expect(page.getByRole('heading', { name: 'What the chain says' })).toBeVisible()
    await expectAccessible(page)

    await page.goto('/')
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expectAccessible(page)
  })

  test(`every step of a checkout is accessible in the ${theme} theme`, async ({ net, buyer }) => {
    const { page } = await buyer({ ether: '1' })
    await page.emulateMedia({ colorScheme: theme })
    await openCheckout(page, onEthereum(net, '0.01'))
    await page.getByRole('button', { name: 'Connect a wallet to pay' }).click()
    await expect(page.getByRole('dialog')).toBeVisible()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await connectOnForm(page, 'MetaMask')
    await review(page, 'MetaMask')
    await expectAccessible(page)
    await signButton(page, 'MetaMask').click()
    await expectPaid(page)
    await expectAccessible(page)
  })
}

/** On a desk and on a phone; and no page is wider than the phone. */
async function expectAccessible(page: Page): Promise<void> {
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
