import type { Page } from '@playwright/test'
import { parseEther } from 'viem'
import { until } from './chain.ts'
import { connect, connectOnForm, connectOnLink, expectPaid, signButton } from './checkout.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './expect-accessible.ts'
import { createShortLinkByApi, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

test('a seller asks for 12.50 EUR with a short link, and a stranger on a phone pays it in ETH at the quoted rate', async ({
  net,
  chains,
  seller,
  buyer,
}) => {
  const shop = await seller()
  await shop.page.goto('/links')
  await connect(shop.page, 'MetaMask')
  await shop.page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await shop.page.getByRole('button', { name: text('New link') }).click()
  const dialog = shop.page.getByRole('dialog', { name: text('New link') })
  await dialog.getByLabel(text('Currency')).selectOption({ label: 'EUR' })
  await dialog.getByLabel(text('Amount')).fill('12.50')
  await dialog.getByLabel(text('Description')).fill('Autumn issue')
  await dialog.getByLabel(text('Reference')).fill('INV-EUR')
  await dialog.getByLabel(text('Ask for an email')).check()
  await dialog.getByRole('button', { name: text('Create link') }).click()
  const share = shop.page.getByRole('dialog', { name: text('Share') })
  const link = await share.getByText(/^https?:\/\//).innerText()
  expect(new URL(link).pathname).toMatch(/^\/pay\/[1-9A-HJ-NP-Za-km-z]{12}$/)
  await expect(share).toContainText('€12.50')
  await share.getByRole('button', { name: text('Close') }).click()

  const before = await chains.evm.getBalance({ address: net.wallets.seller.evm.address })
  const { page } = await buyer({ ether: '1', sol: 2 })
  await page.setViewportSize({ width: 390, height: 844 })
  // The page has been open for longer than the quote lasts.
  await page.route('**/api/link/open', async (route) => {
    const response = await route.fetch()
    const opened = (await response.json()) as { quotedAt: number }
    await route.fulfill({ response, json: { ...opened, expiresAt: opened.quotedAt - 1 } })
  })
  await page.goto(link)
  await expect(page.getByText('€12.50').first()).toBeVisible()
  await expect(page.getByText(text('Price expired'))).toBeVisible()
  await expect(page.getByRole('button', { name: text('Connect a wallet to pay') })).toHaveCount(0)
  await expectAccessible(page, 'link: price expired')
  await page.unroute('**/api/link/open')
  await page.getByRole('button', { name: text('Refresh price') }).click()
  await expect(page.getByText(text('Price expired'))).toHaveCount(0)
  await page.getByLabel(text('Email')).fill('ana@')
  await chooseCurrency(page, 'WETH')
  await expect(page.getByLabel(text('Email'))).toHaveValue('ana@')
  await page.getByLabel(text('Email')).fill('ana@post.example')
  await expect(page.getByLabel(text('Currency')).getByRole('option')).not.toHaveCount(1)
  await expectAccessible(page, 'link: ready to pay')
  // 12.50 × 1.084 ÷ 3120.45 = 0.0043423224…, rounded up: the option says what the review will.
  await chooseCurrency(page, '0.00434233 ETH')
  // The one filled button is on the first screen of a phone.
  await expect(page.getByRole('button', { name: text('Connect a wallet to pay') })).toBeInViewport({
    ratio: 1,
  })
  await connectOnLink(page, 'MetaMask')
  await expect(page.getByText('€12.50').first()).toBeVisible()
  await expect(page.getByText('Autumn issue')).toHaveCount(1)
  await expect(page.getByText(text('up to {money}', { money: '€12.51' }))).toBeVisible()
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  await expect(page.getByText('€12.50').first()).toBeVisible()
  const asked = parseEther('0.00434233')
  await until(async () => {
    const got = (await chains.evm.getBalance({ address: net.wallets.seller.evm.address })) - before
    return got === asked
  }, 'the amount that the quote asked for')

  await shop.page.reload()
  const listed = shop.page.getByRole('listitem').filter({ hasText: 'INV-EUR' })
  await expect(listed).toContainText('1 of 1 payment', { timeout: 30_000 })
  // The number leads to the payments, and a payment names first what it is for, then its link.
  await listed.getByRole('link', { name: '1 of 1 payment' }).click()
  await expect(shop.page).toHaveURL(/\/payments\?q=INV-EUR$/)
  const row = shop.page.getByRole('row').filter({ hasText: 'Autumn issue' })
  await row.getByRole('link').first().click()
  await expect(shop.page.getByText('ana@post.example')).toBeVisible()
  const cards = await shop.page.getByRole('heading', { level: 2 }).allInnerTexts()
  expect(cards[0]).toBe(text('Details'))
  const ofLink = shop.page.locator('dl > div').filter({
    has: shop.page.getByRole('term').getByText(text('Payment link'), { exact: true }),
  })
  await expect(ofLink.getByRole('link')).toHaveAttribute('href', /\/links$/)
})

test('a quantity that is not sold is refused where it is typed, and another device gets what was chosen', async ({
  net,
  seller,
  buyer,
}) => {
  const shop = await signInByApi(await seller(), net, '/links')
  const link = await createShortLinkByApi(shop, net, {
    description: 'Print',
    reference: 'PRINT-10',
    maxPieces: 10,
  })
  const { page } = await buyer({ ether: '1' })
  await page.goto(link)
  await chooseCurrency(page, 'WETH')
  const quantity = page.getByLabel(text('Quantity'))
  const wrong = page.getByText(text('Enter 1 to {most}.', { most: '10' }))
  const phone = page.getByRole('button', { name: text('Pay with a phone') })
  for (const typed of ['20', '']) {
    await quantity.fill(typed)
    await expect(wrong).toBeVisible()
    await expect(phone).toHaveCount(0)
  }
  await expectAccessible(page, 'link: a quantity that is not sold')
  await quantity.fill('3')
  await expect(wrong).toHaveCount(0)
  await phone.click()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: text('Copy link') }).click()
  await page.goto(await page.evaluate(() => navigator.clipboard.readText()))
  await expect(quantity).toHaveValue('3')
  await expect(
    page.getByLabel(text('Currency')).getByRole('option', { selected: true }),
  ).toHaveText(/WETH/)
  await expect(page.getByText('€37.50').first()).toBeVisible()
  // Connecting leads to the review at once, but not with a quantity that is not sold.
  await quantity.fill('20')
  await connectOnForm(page, 'MetaMask')
  const review = page.getByRole('button', { name: text('Review payment') })
  await expect(review).toBeDisabled()
  await quantity.fill('3')
  await expect(review).toBeEnabled()
})

async function chooseCurrency(page: Page, symbol: string): Promise<void> {
  const select = page.getByLabel(text('Currency'))
  const option = select.getByRole('option').filter({ hasText: symbol }).first()
  await select.selectOption((await option.getAttribute('value')) ?? '')
}
