import type { Page } from '@playwright/test'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { randomUuid } from './random.ts'
import { paymentRows, signIn, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

/**
 * What pages say while a dependency is unreachable, simulated in the browser: no server of ours
 * responds.
 */

const AWAY = /ERR_FAILED|ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED/
const LIST = '**/api/payments?**'

test('a list says that it is being read, that it cannot be, or that it is old, and comes back by itself or by a button', async ({
  seller,
  expectError,
}) => {
  test.slow()
  expectError(AWAY)
  const { page, context } = await seller()
  await signIn({ page })
  await expect(paymentRows(page).first()).toBeVisible()

  const held = Promise.withResolvers<void>()
  await page.route(LIST, async (route) => {
    await held.promise
    await route.abort()
  })
  await page.reload()
  // The code of the page loads first, under the same status.
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByRole('status', { name: text('Loading') })).toBeVisible()
  await expectAccessible(page, 'payments: loading')
  held.resolve()
  await expect(page.getByText(text('Server unreachable'))).toBeVisible({
    timeout: 30_000,
  })
  await expectAccessible(page, 'payments: out of reach')
  await awayUntilPressed(page)
  await page.getByRole('button', { name: text('Try again') }).click()
  await expect(paymentRows(page).first()).toBeVisible()

  await awayUntilPressed(page)
  // The rows further down are read when the reader scrolls near them.
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight))
  const old = page.getByRole('status').filter({
    hasText: textLike('{reason}. This is from <0/>.', {
      reason: text('Server unreachable'),
    }),
  })
  await expect(old).toBeVisible({ timeout: 30_000 })
  await expectAccessible(page, 'payments: old, with a warning')
  // Clicked without scrolling: at the top of the list, the rows that could not be read are not
  // requested, and the warning disappears by itself.
  await old.getByRole('button', { name: text('Try again') }).dispatchEvent('click')
  await expect(old).toHaveCount(0)

  await context.setOffline(true)
  await expect(
    page.getByText(text('You are offline. Figures may be old. Payments are not queued.')),
  ).toBeVisible()
  await expectAccessible(page, 'shell: offline')
  await context.setOffline(false)
  await expect(
    page.getByText(text('You are offline. Figures may be old. Payments are not queued.')),
  ).toHaveCount(0)
})

/**
 * Lists cannot be read until the reader presses something: a page that recovered earlier would have
 * no button left.
 */
async function awayUntilPressed(page: Page): Promise<void> {
  await page.unroute(LIST)
  const mark = `data-pressed-${randomUuid()}`
  await page.evaluate(
    (name) =>
      document.addEventListener('click', () => document.documentElement.setAttribute(name, ''), {
        capture: true,
        once: true,
      }),
    mark,
  )
  await page.route(LIST, async (route) =>
    (await page.locator(`html[${mark}]`).count()) > 0 ? route.fallback() : route.abort(),
  )
}

test('a list of wallets that cannot be fetched takes nothing down, and opens at the next try', async ({
  visitor,
  expectError,
}) => {
  expectError(AWAY)
  const page = await visitor()
  await page.route('**/assets/ConnectDialog-*', (route) => route.abort())
  await page.goto('/')
  const connect = page
    .getByRole('banner')
    .getByRole('button', { name: text('Connect'), exact: true })
  await connect.click()
  await expect(
    page.getByRole('region', { name: text('Notices') }).getByText(text('Server unreachable')),
  ).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.unroute('**/assets/ConnectDialog-*')
  await connect.click()
  await expect(
    page.getByRole('dialog').getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'Demo wallet', network: 'Ethereum' }),
    }),
  ).toBeVisible()
})

test('an overview whose figures cannot be read says so and offers to try again', async ({
  net,
  seller,
  expectError,
}) => {
  expectError(AWAY)
  const person = await seller()
  const { context } = person
  const page = await signInByApi(person, net)
  await page.clock.install()
  await page.route('**/api/payments/summary**', (route) => route.abort())
  await page.goto('/')
  await expect(page.getByText(text('Server unreachable')).first()).toBeVisible({
    timeout: 30_000,
  })
  await expectAccessible(page, 'overview: out of reach')
  await page.unroute('**/api/payments/summary**')
  await page
    .getByRole('button', { name: text('Try again') })
    .first()
    .click()
  await expect(page.getByText(text('Server unreachable'))).toHaveCount(0)
  // Figures that could be read before stay, and are called old.
  await expect(page.getByRole('heading', { name: text('Latest payments') })).toBeVisible()
  await page.route('**/api/payments/summary**', (route) => route.abort())
  await page.clock.fastForward('00:31')
  await context.setOffline(true)
  await context.setOffline(false)
  await expect(
    page.getByRole('status').filter({
      hasText: textLike('{reason}. This is from <0/>.', { reason: text('Server unreachable') }),
    }),
  ).toBeVisible()
  await expect(page.getByRole('heading', { name: text('Latest payments') })).toBeVisible()
})

test('after a deploy an open tab reloads once by itself; without one it says what it could not load', async ({
  visitor,
  expectError,
}) => {
  expectError(AWAY)
  expectError(/dynamically imported module|is a MIME type/)
  const page = await visitor()
  const verify = page.getByRole('link', { name: text('Verify') })
  let loads = 0
  let gone = true
  await page.route('**/verify', (route) => {
    loads++
    gone = false
    return route.fallback()
  })
  await page.route('**/assets/VerifyPage-*', (route) => (gone ? route.abort() : route.fallback()))
  await page.goto('/')
  await verify.click()
  await expect(page.getByRole('alert')).toContainText(text('Server unreachable'))
  expect(loads).toBe(0)

  const start = ({ pathname }: URL) => pathname === '/'
  await page.route(start, async (route) => {
    if (route.request().resourceType() !== 'fetch') return route.fallback()
    const response = await route.fetch()
    const html = await response.text()
    await route.fulfill({ response, body: html.replaceAll(/index-[\w-]+\.js/g, 'index-later.js') })
  })
  await page.goto('/')
  await verify.click()
  await expect(page.getByLabel(text('Payment to check'))).toBeVisible()
  expect(loads).toBe(1)
})

test('a page whose server is silent for three seconds says so, and goes on when it answers', async ({
  visitor,
  expectError,
}) => {
  // The address names no link; it is asked about before the configuration is there.
  expectError(/status of 400 .*\/api\/link\/open/)
  const page = await visitor()
  const answered = Promise.withResolvers<void>()
  await page.route('**/api/config', async (route) => {
    await answered.promise
    await route.fallback()
  })
  const silent = page.getByText(text('The server has not answered yet.'))
  for (const path of ['/pay/111111111111', '/file/111111111111', '/pay']) {
    await page.goto(path)
    await expect(silent).toBeVisible()
    await expect(page.getByRole('heading', { level: 1 }), path).toHaveCount(1)
  }
  answered.resolve()
  await expect(page.getByLabel(text('Amount'))).toBeVisible()
})
