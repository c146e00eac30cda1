import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from '@playwright/test'
import { Devnet } from '#devnet/network.ts'
import { findBrowser } from '../src/testing/browser.ts'
import { scenes } from './scenes.ts'
import { text } from './text.ts'

/**
 * `npm run screenshots`: every page and main state, at desktop and phone sizes, light and dark,
 * from a separate devnet with its history and its demo wallet. Those in the README are saved in
 * e2e/screenshots; all others in test-results/screenshots. Names as arguments limit it to those
 * scenes.
 */

const README = new Map([
  ['review 1440 light', 'review'],
  ['paid 390 light', 'phone'],
  ['payment 1440 light', 'payment'],
  ['overview 1440 light', 'overview'],
])
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

/** Lists have no end. */
const TALLEST = 2_400

/** A browser without a graphics card redraws a tall page whenever its window changes. */
const PATIENCE_MS = 120_000

const wanted = process.argv.slice(2)
const all = join(import.meta.dirname, '../test-results/screenshots')
await mkdir(all, { recursive: true })

await using net = await Devnet.create({ print: (line) => console.log(line) })
const browser = await chromium.launch({
  executablePath: await findBrowser(process.env),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
let failed = 0
try {
  for (const [name, scene] of Object.entries(scenes)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const page = await open(browser)
    try {
      await scene(page, net)
      await draw(page, name)
      console.log(name)
    } catch (error) {
      failed++
      console.error(
        `${name}: ${error instanceof Error ? error.message.split('\n', 3).join(' ') : String(error)}`,
      )
      await page.screenshot({ path: join(all, `${name} failed.png`) })
    }
    await page.context().close()
  }
} finally {
  await browser.close()
}
process.exitCode = failed > 0 ? 1 : 0

async function open(from: Browser): Promise<Page> {
  const context = await from.newContext({
    baseURL: net.urls.web,
    viewport: SIZES[0] ?? null,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  return context.newPage()
}

/** Without anything transient: a toast, or a focus ring. */
async function draw(page: Page, name: string): Promise<void> {
  await page.evaluate(
    () => document.activeElement instanceof HTMLElement && document.activeElement.blur(),
  )
  await page.mouse.move(0, 0)
  await page.getByRole('region', { name: text('Notices') }).waitFor({ state: 'detached' })
  for (const size of SIZES) {
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const shown = `${name} ${size.width} ${colorScheme}`
      const known = README.get(shown)
      if (known)
        await page.screenshot({
          path: join(import.meta.dirname, 'screenshots', `${known}.png`),
          animations: 'disabled',
          timeout: PATIENCE_MS,
        })
      // As tall as the content: elements fixed to the window's edges would otherwise appear in the
      // middle of the picture.
      const height = await page.evaluate(() => document.documentElement.scrollHeight)
      await page.setViewportSize({
        width: size.width,
        height: Math.max(size.height, Math.min(height, TALLEST)),
      })
      await page.waitForFunction(rowsAreDrawn)
      await page.screenshot({
        path: join(all, `${shown}.png`),
        animations: 'disabled',
        timeout: PATIENCE_MS,
      })
      await page.setViewportSize(size)
    }
  }
}

/** A list draws the rows that came into view a few at a time. */
function rowsAreDrawn(): boolean {
  const last = [...document.querySelectorAll('[data-payment-row]')].at(-1)
  const list = last?.closest('tbody, ul')
  return (
    !last ||
    !list ||
    last.getBoundingClientRect().bottom >=
      Math.min(window.innerHeight, list.getBoundingClientRect().bottom - 1)
  )
}
