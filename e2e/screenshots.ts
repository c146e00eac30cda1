import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { findBrowser } from '../src/testing/browser.ts'
import { expectPaid, expectReviewed } from './checkout.ts'

/**
 * Draws the README's pictures from a running devnet, with its own history and its demo wallet:
 * `node e2e/screenshots.ts http://localhost:4173`
 */

const FOLDER = join(import.meta.dirname, 'screenshots')
const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

const [url] = process.argv.slice(2)
if (!url) throw new Error('Say where the devnet is: node e2e/screenshots.ts http://localhost:4173')

await mkdir(FOLDER, { recursive: true })
const browser = await chromium.launch({ executablePath: await findBrowser(process.env), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
try {
  const buyer = await open(DESK)
  await review(buyer)
  await draw(buyer, 'review')
  await buyer.getByRole('button', { name: 'Sign in Demo wallet' }).click()
  await buyer.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await expectPaid(buyer)
  await buyer.setViewportSize(PHONE)
  await buyer.getByRole('heading', { name: 'Paid, for good' }).waitFor({ timeout: 60_000 })
  await draw(buyer, 'phone')
  await buyer.getByRole('link', { name: 'Show the payment' }).click()
  await buyer.setViewportSize(DESK)
  await buyer.getByText('The chain shows this payment exactly').waitFor()
  await draw(buyer, 'payment')

  const seller = await open(DESK)
  await signIn(seller)
  await seller.getByRole('heading', { name: 'Latest payments' }).waitFor()
  await draw(seller, 'overview')
} finally {
  await browser.close()
}

async function open(viewport: typeof DESK): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, viewport, locale: 'en-GB', colorScheme: 'light', reducedMotion: 'reduce' })
  return context.newPage()
}

/** Buys from the demo seller, whose address the form proposes, up to the moment before the wallet opens. */
async function review(page: Page): Promise<void> {
  await page.goto('/pay?amount=0.01&description=The+price+of+finality&reference=ORD-2001')
  await page.getByRole('button', { name: 'Connect a wallet to pay' }).click()
  await connect(page, /Buyer/)
  await page.getByRole('button', { name: 'Review payment' }).click()
  await expectReviewed(page, 'Demo wallet')
}

async function signIn(page: Page): Promise<void> {
  await page.goto('/')
  await page.getByRole('banner').getByRole('button', { name: 'Connect', exact: true }).click()
  await connect(page, /Seller/)
  await page.getByRole('button', { name: /^Sign in as/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign' }).click()
}

async function connect(page: Page, account: RegExp): Promise<void> {
  await page.getByRole('button', { name: 'Connect Demo wallet on Ethereum' }).click()
  const sheet = page.getByRole('dialog', { name: 'Connect this page?' })
  await sheet.getByRole('radio', { name: account }).check()
  await sheet.getByRole('button', { name: 'Connect' }).click()
}

/** Without what passes by: a note of what just happened, or a ring of focus. */
async function draw(page: Page, name: string): Promise<void> {
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur())
  await page.waitForLoadState('networkidle').catch(() => undefined)
  await page.mouse.move(0, 0)
  await page.getByRole('region', { name: 'Notices' }).waitFor({ state: 'detached' })
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled' })
}
