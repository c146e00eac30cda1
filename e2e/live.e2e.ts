import type { BrowserContext, Page } from '@playwright/test'
import { connect, pay } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test, type Person } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { downloaded, paymentRows, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

test('two tabs share one stream; when its tab closes the other reads on, and neither misses a payment', async ({
  net,
  seller,
  buyer,
}) => {
  test.slow()
  const shop = await seller()
  const streams = watchStreams(shop.context)
  await signIn(shop)
  const second = await shop.context.newPage()
  await second.goto('/payments')
  for (const page of [shop.page, second]) await expect(live(page)).toBeVisible()
  expect(streams).toEqual([{ page: shop.page, after: null }])

  const [one, other] = [await buyer({ ether: '1' }), await buyer({ ether: '1' })]
  await pay(one.page, 'MetaMask', onEthereum(net, '0.0341'))
  for (const tab of [shop.page, second])
    await expect(
      tab.getByRole('button', {
        name: text('{count, plural, one {# new payment} other {# new payments}}', { count: 1 }),
        exact: true,
      }),
    ).toBeVisible()
  expect(streams).toHaveLength(1)

  await shop.page.close()
  await expect.poll(() => streams.length).toBe(2)
  // It resumes after the last event it received, so the list is not read again and still nothing is
  // missing.
  expect(streams[1]).toEqual({ page: second, after: expect.stringMatching(/^\d+$/) as unknown })
  await pay(other.page, 'MetaMask', onEthereum(net, '0.0342'))
  await expect(
    second.getByRole('button', {
      name: text('{count, plural, one {# new payment} other {# new payments}}', { count: 2 }),
      exact: true,
    }),
  ).toBeVisible()
  await expect(live(second)).toBeVisible()
  expect(streams).toHaveLength(2)

  // A file of what the list shows then has the newest too.
  await second
    .getByRole('button', {
      name: text('{count, plural, one {# new payment} other {# new payments}}', { count: 2 }),
      exact: true,
    })
    .click()
  await expect(paymentRows(second).first()).toContainText('0.0342')
  await second.getByRole('button', { name: text('Export'), exact: true }).click()
  const exported = await downloaded(second, () =>
    second
      .getByRole('dialog')
      .getByRole('button', { name: /^Export / })
      .click(),
  )
  expect(exported.text).toContain('0.0342')
})

test('who signed out in another tab is told why the page asks to sign in again', async ({
  seller,
  expectError,
}) => {
  expectError(/status of 401 .*\/api\//)
  const shop = await seller()
  await signIn(shop)
  const payment = await shop.context.newPage()
  await payment.goto('/payments')
  await paymentRows(payment).first().getByRole('link').first().click()
  const details = payment.getByRole('heading', { name: text('What happened') })
  await expect(details).toBeVisible()
  const second = await shop.context.newPage()
  await second.goto('/settings')
  await second.getByRole('button', { name: text('Sign out'), exact: true }).click()
  await expect(shop.page.getByText(text('Session ended.'))).toBeVisible()
  await expect(shop.page.getByRole('table')).toHaveCount(0)
  // Nothing stays in view that only the session could read.
  await expect(details).toHaveCount(0)
  await expectAccessible(shop.page, 'payments: session ended')
  // The tab where the sign-out was pressed shows no notice.
  await expect(second.getByText(text('Session ended.'))).toHaveCount(0)
  await shop.page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(shop.page.getByRole('table', { name: textLike('Payments') })).toBeVisible()
  await expect(shop.page.getByText(text('Session ended.'))).toHaveCount(0)
})

test('a stream that cannot be opened is told as not live, and the list goes on without it', async ({
  net,
  seller,
}) => {
  test.slow()
  const shop = await seller()
  // The proxy never answers: no error comes either.
  await shop.context.route('**/api/events*', () => {})
  const page = await signInByApi(shop, net)
  const desk = page.viewportSize()
  await page.setViewportSize({ width: 320, height: 640 })
  const width = () => page.evaluate(() => document.documentElement.scrollWidth)
  await expect(page.locator('[data-live=connecting]').last()).toBeVisible()
  expect(await width()).toBeLessThanOrEqual(320)
  await expect(page.locator('[data-live=stale]').last()).toBeVisible({ timeout: 30_000 })
  expect(await width()).toBeLessThanOrEqual(320)
  if (desk) await page.setViewportSize(desk)
  await expect(page.getByText(textLike('No live updates since <0/>')).first()).toBeVisible()
  await page.waitForRequest((request) => new URL(request.url()).pathname === '/api/payments')
})

function live(page: Page) {
  return page.locator('[data-live=live]').first()
}

type Opened = { page: Page; after: string | null }

function watchStreams(context: BrowserContext): Opened[] {
  const opened: Opened[] = []
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (url.pathname === '/api/events')
      opened.push({ page: request.frame().page(), after: url.searchParams.get('lastEventId') })
  })
  return opened
}

async function signIn({ page }: Person): Promise<void> {
  await page.goto('/payments')
  await connect(page, 'MetaMask')
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(page.getByRole('table', { name: textLike('Payments') })).toBeVisible()
}
