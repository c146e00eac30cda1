import { connectOnForm, expectPaid, openCheckout, review, sign } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { paymentTable, signIn, signInByApi } from './seller.ts'
import type { State } from './states.ts'
import { text, textLike } from './text.ts'

/** The pages and steps that everybody sees; what is out of the ordinary is read where its story leads into it. */
test.describe.configure({ timeout: 240_000 })

const SIGNED_OUT: Readonly<Record<string, State>> = {
  '/': 'overview: signed out',
  '/pay': 'checkout: form',
  '/payments': 'payments: signed out',
  '/links': 'links: signed out',
  '/products': 'products: signed out',
  '/invoices': 'invoices: signed out',
  '/verify': 'verify: start',
  '/explore': 'explore: start',
  '/developers': 'developers: signed out',
  '/balances': 'balances: signed out',
  '/customers': 'customers: signed out',
  '/files': 'files: signed out',
  '/people': 'people: signed out',
  '/settings': 'settings: all',
  '/nowhere': 'shell: nothing here',
}

test('every page is accessible to somebody who came by', async ({ visitor }) => {
  const page = await visitor()
  for (const [path, state] of Object.entries(SIGNED_OUT)) {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await page.waitForLoadState('networkidle')
    await expectAccessible(page, state)
  }
})

test('what a seller reads is accessible', async ({ seller }) => {
  const page = await signIn(await seller())
  const table = paymentTable(page)
  await expect(table).toBeVisible()
  await expectAccessible(page, 'payments: list')

  await table.getByRole('link').first().click()
  await expect(page.getByRole('heading', { name: text('On-chain check') })).toBeVisible()
  await expectAccessible(page, 'payment: final')

  await page.goto('/')
  await expect(page.getByRole('heading', { name: text('Latest payments') })).toBeVisible()
  await expectAccessible(page, 'overview: signed in')

  // A bar of the chart leads to the payments of its day and asset; a table has the same links.
  const chart = page.getByRole('slider', {
    name: textLike('{label}. Enter shows the payments.'),
  })
  await chart.press('End')
  await expect(chart).toHaveAttribute('aria-valuetext', /./)
  await chart.press('Enter')
  await expect(page).toHaveURL(/\/payments\?.*zone=utc/)
  const shown = new URL(page.url()).searchParams
  expect(shown.get('from')).toBe(shown.get('to'))
  expect(shown.get('asset')).not.toBeNull()
  await expect(page.getByRole('button', { name: /UTC/ })).not.toHaveCount(0)
  await page.goBack()
  await page.getByRole('button', { name: text('Show table') }).click()
  const days = page.getByRole('table', { name: textLike('{symbol} on {name}') })
  // Days without a payment are told as zero.
  await expect(days.getByRole('row')).toHaveCount(31)
  await expect(days.getByRole('link').first()).toHaveAttribute(
    'href',
    `${page.url().replace(/\/$/, '')}/payments?${shown}`.replace(new URL(page.url()).origin, ''),
  )
})

test('on a phone a seller’s figures stay in their columns, and the buttons of a long form in view', async ({
  seller,
  net,
}) => {
  const page = await signInByApi(await seller(), net, '/')
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(page.getByText(text('Network fees'))).toBeVisible()
  const overrun = await page
    .locator('dd')
    .evaluateAll((all) =>
      all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent),
    )
  expect(overrun).toEqual([])

  await page.goto('/balances')
  const figures = page.getByRole('listitem').filter({ hasText: /ETH/ }).locator('dd > span')
  await expect(figures).toHaveCount(3 * 4)
  const ends = await figures.evaluateAll((all) =>
    all.map((each) => Math.round(each.getBoundingClientRect().right)),
  )
  expect(new Set(ends).size).toBe(1)

  await page.goto('/developers')
  const key = page.getByRole('row').filter({ hasText: 'Bookkeeping' })
  await expect(key.getByText(text('Last used')).last()).toBeVisible()
  await expect(key.getByText(text('Requests, 24 h')).last()).toBeVisible()

  await page.goto('/invoices')
  await page.getByRole('button', { name: text('New invoice') }).click()
  const save = page.getByRole('dialog').getByRole('button', { name: text('Save draft') })
  await expect(save).toBeInViewport({ ratio: 1 })
})

test('somebody who signs in before their first payment is told where to begin', async ({
  buyer,
}) => {
  const page = await signIn(await buyer())
  await expect(page.getByText(text('No payments yet'))).toBeVisible()
  await expectAccessible(page, 'payments: before the first one')
  await page.goto('/')
  await expect(page.getByText(text('No payments in this period'))).toBeVisible()
  await expectAccessible(page, 'overview: before the first payment')
})

test('every step of a checkout is accessible', async ({ net, buyer }) => {
  const { page } = await buyer({ ether: '1' })
  await openCheckout(page, onEthereum(net, '0.01'))
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await expectAccessible(page, 'checkout: wallets to choose from')
  await page.keyboard.press('Escape')
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await expectAccessible(page, 'checkout: review')
  await sign(page, 'MetaMask')
  await expectPaid(page)
  await expectAccessible(page, 'checkout: paid')
})
