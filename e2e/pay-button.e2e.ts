import { expect, test } from './fixtures.ts'
import { connectOnLink, expectPaid, signButton } from './checkout.ts'
import { createLinkByApi, signInByApi } from './seller.ts'
import { textLike } from './text.ts'

test('the pay button of a shop on another origin opens one window, and the shop’s page goes on when it is paid', async ({
  net,
  seller,
  buyer,
  expectError,
}) => {
  const merchant = await signInByApi(await seller(), net, '/links')
  const link = await createLinkByApi(merchant, net, {
    amount: 0.01,
    description: 'Print',
    reference: 'PRINT-1',
    returnUrl: `${net.urls.seller}/thanks?payment={PAYMENT_ID}`,
  })
  const { page, context } = await buyer({ ether: '1' })
  const address = encodeURIComponent(`${net.urls.web}${link}`)
  await page.goto(`${net.urls.seller}/button?link=${address}`)
  const button = page.getByRole('link', { name: 'Buy this print' })
  const opening = context.waitForEvent('page')
  await button.click()
  const checkout = await opening
  // A second click shows the same window: two would invite to pay twice.
  await button.click()
  expect(context.pages()).toHaveLength(2)

  await connectOnLink(checkout, 'MetaMask')
  await signButton(checkout, 'MetaMask').click()
  await expectPaid(checkout)
  expect(new URL(page.url()).pathname).toBe('/button')
  const closed = checkout.waitForEvent('close')
  await checkout.getByRole('link', { name: textLike('Back to {host}') }).click()
  await closed
  await expect(page).toHaveURL(/\/thanks\?payment=/)
  await expect(page.getByText('We received 0.01 ETH.')).toBeVisible()

  // A payment that somebody names and nobody made.
  expectError(/404/)
  await page.goto(`${net.urls.seller}/thanks?payment=pay_unknown`)
  await expect(page.getByRole('heading', { name: 'Not paid' })).toBeVisible()
})

test('a page that the seller did not name learns nothing, and a window that is closed unpaid is told', async ({
  net,
  seller,
  buyer,
}) => {
  const merchant = await signInByApi(await seller(), net, '/links')
  const link = await createLinkByApi(merchant, net, {
    amount: 0.01,
    description: 'Print',
    reference: 'PRINT-1',
    returnUrl: 'https://shop.example/thanks',
  })
  const { page, context } = await buyer({ ether: '1' })
  const address = encodeURIComponent(`${net.urls.web}${link}`)
  await page.goto(`${net.urls.seller}/button?link=${address}`)
  await page.evaluate(() => {
    const heard: unknown[] = []
    Object.assign(window, { heard })
    addEventListener('message', ({ data }) => heard.push(data))
    addEventListener('paydesk:paid', () => heard.push('paid'))
    addEventListener('paydesk:closed', () => heard.push('closed'))
  })
  const heard = () => page.evaluate(() => Reflect.get(window, 'heard') as unknown[])
  const opening = context.waitForEvent('page')
  await page.getByRole('link', { name: 'Buy this print' }).click()
  const checkout = await opening
  await connectOnLink(checkout, 'MetaMask')
  await signButton(checkout, 'MetaMask').click()
  await expectPaid(checkout)
  await checkout.close()
  await expect.poll(heard).toEqual(['closed'])
})
