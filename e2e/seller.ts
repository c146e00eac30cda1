import { expect, type Page } from '@playwright/test'
import { connect } from './checkout.ts'
import type { Person } from './fixtures.ts'
import { textLike } from './text.ts'

/** Signs in where the page asks for it. The demo seller runs the desk. */
export async function signIn({ page }: Pick<Person, 'page'>, path = '/payments'): Promise<Page> {
  await page.goto(path)
  await connect(page, 'MetaMask')
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(page.getByRole('button', { name: textLike('Sign in as {address}') })).toHaveCount(0)
  return page
}

export function paymentTable(page: Page) {
  return page.getByRole('table', { name: textLike('Payments') })
}

/** Payments in view; the heading is a row too. */
export function paymentRows(page: Page) {
  return paymentTable(page).locator('tr[data-payment-row]')
}

/** What a download holds. */
export async function downloaded(page: Page, start: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), start()])
  const chunks: Buffer[] = []
  for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk as Buffer))
  return { name: download.suggestedFilename(), text: Buffer.concat(chunks).toString('utf8') }
}
