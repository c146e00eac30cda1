import { expect, type Locator, type Page } from '@playwright/test'

/** What a button puts on the clipboard, which it writes to after the click has returned. */
export async function copied(page: Page, button: Locator): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate(() => navigator.clipboard.writeText(''))
  await button.click()
  const read = () => page.evaluate(() => navigator.clipboard.readText())
  await expect.poll(read).not.toBe('')
  return read()
}
