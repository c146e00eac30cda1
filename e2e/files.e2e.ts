import { connectOnLink, expectPaid, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { downloaded, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

const GUIDE = 'Chapter one. Money moves once.'

test('a merchant sells a text; a buyer pays, downloads it, and reads it again after sign-in', async ({
  net,
  seller,
  buyer,
  visitor,
}) => {
  test.slow()
  const shop = await signInByApi(await seller(), net, '/files')
  await shop.getByRole('button', { name: text('Sell a file') }).click()
  const dialog = shop.getByRole('dialog', { name: text('Sell a file') })
  await dialog.getByLabel(text('Name'), { exact: true }).fill('The guide')
  await dialog.getByLabel(text('Amount in {currency}', { currency: 'ETH' })).fill('0.01')
  await dialog.getByLabel(text('Text to sell')).fill(GUIDE)
  await dialog.getByRole('button', { name: text('Check source') }).click()
  await expect(dialog.getByRole('status')).toContainText('30 byte')
  await expectAccessible(shop, 'files: to sell')
  await dialog.getByRole('button', { name: text('Sell file') }).click()
  await expect(dialog).toBeHidden()
  const row = shop.getByRole('listitem').filter({ hasText: 'The guide' })
  await expect(row).toContainText('0.01 ETH')
  await expectAccessible(shop, 'files: list')
  const { files } = (await (
    await shop.request.get(`${net.urls.bff.replace('127.0.0.1', 'localhost')}/api/files`)
  ).json()) as { files: { url: string }[] }
  const [{ url } = { url: '' }] = files

  // The public address leads a person to the page of the file.
  const person = await buyer({ ether: '1' })
  const { page } = person
  await page.goto(url)
  await expect(page).toHaveURL(/\/file\/[1-9A-HJ-NP-Za-km-z]{12}$/)
  await expectAccessible(page, 'file: to buy')
  const address = page.url()
  await page.getByRole('link', { name: text('Buy for {price}', { price: '0.01 ETH' }) }).click()
  await connectOnLink(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  await page.getByRole('link', { name: textLike('Back to {host}') }).click()
  await expect(page).toHaveURL(/\/file\/.+\?payment=pay_/)
  const button = page.getByRole('button', { name: text('Download') })
  await expect(button).toBeVisible({ timeout: 30_000 })
  await expectAccessible(page, 'file: bought')
  expect(await downloaded(page, () => button.click())).toEqual({
    name: 'The guide.txt',
    text: GUIDE,
  })

  // Another browser has nothing, until the wallet that paid signs in there.
  const stranger = await visitor()
  await stranger.goto(address)
  await expect(stranger.getByRole('button', { name: text('Download') })).toHaveCount(0)
  await page.context().clearCookies()
  await page.goto(address)
  await expect(button).toHaveCount(0)
  await signInByApi(person, net, new URL(address).pathname)
  expect((await downloaded(page, () => button.click())).text).toBe(GUIDE)

  await shop.reload()
  await expect(row).toContainText('1 sale')
  await expect(row).toContainText('2 downloads')
})

test('an address of no file says so', async ({ visitor, expectError }) => {
  expectError(/status of 404 .*\/api\/files\/open/)
  const page = await visitor()
  await page.goto('/file/4fJq7Wm2Xr9K')
  await expect(page.getByText(text('File not found'))).toBeVisible()
  await expectAccessible(page, 'file: not found')
})
