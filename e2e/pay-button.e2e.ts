import { expect, test } from './fixtures.ts'
import { connectOnLink, expectPaid, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { createLinkByApi, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

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
  expect(context.pages()).toHaveLength(2)
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

test('a payment that is not known to be tied to its order is not called complete, and its shop is told nothing', async ({
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
  const { page, context, ethereum } = await buyer({ ether: '1' })
  ethereum.fees = 'replace'
  const address = encodeURIComponent(`${net.urls.web}${link}`)
  await page.goto(`${net.urls.seller}/button?link=${address}`)
  await page.evaluate(() => {
    const heard: unknown[] = []
    Object.assign(window, { heard })
    addEventListener('message', ({ data }) => heard.push(data))
    addEventListener('paydesk:closed', () => heard.push('closed'))
  })
  const opening = context.waitForEvent('page')
  await page.getByRole('link', { name: 'Buy this print' }).click()
  const checkout = await opening
  await connectOnLink(checkout, 'MetaMask')
  await signButton(checkout, 'MetaMask').click()
  await expect(
    checkout.getByRole('heading', { name: text('Confirm this payment is yours') }),
  ).toBeVisible({ timeout: 30_000 })
  await expect(checkout.locator('[data-settlement]')).toBeVisible({ timeout: 30_000 })

  // The next reading of the service is late, and then fails.
  const late = Promise.withResolvers<void>()
  await checkout.route('**/api/payment/status/**', async (route) => {
    await late.promise
    await route.fulfill({ status: 503, json: { error: { code: 'UNAVAILABLE', message: 'no' } } })
  })
  await checkout.reload()
  await expect(checkout.getByText(text('The shop is checking your payment.'))).toBeVisible()
  await expectAccessible(checkout, 'checkout: confirmed, not known whose')
  expectError(/503/)
  late.resolve()
  await expect(checkout.getByRole('button', { name: text('Try again') })).toBeVisible({
    timeout: 30_000,
  })
  await expect(checkout.getByRole('heading', { name: text('Payment complete') })).toHaveCount(0)
  await expect(checkout.getByRole('link', { name: textLike('Back to {host}') })).toHaveCount(0)
  await checkout.close()
  await expect
    .poll(() => page.evaluate(() => Reflect.get(window, 'heard') as unknown[]))
    .toEqual(['closed'])
})

test('a shop decides what follows a payment, gives the button its own look, and sells where windows are blocked', async ({
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
  // The way of a visitor of the shop.
  await page.goto(net.urls.seller)
  await page.getByRole('link', { name: /pay button/ }).click()
  await page.getByRole('textbox').fill(`${net.urls.web}${link}`)
  await page.getByRole('button', { name: 'Show the button' }).click()
  await expect(page.getByRole('link', { name: 'Buy this print' })).toBeVisible()
  const shopPage = page.url()

  // A class of the shop takes the place of the button's own look, and a link that is none makes no button.
  expectError(/Paydesk button: expected a payment link of .*, received "https:\/\/elsewhere/)
  const links = await page.evaluate(
    async ({ source, address }) => {
      for (const chosen of [address, 'https://elsewhere.example/pay/4kTq9ZsWmB7x']) {
        const script = document.createElement('script')
        script.src = source
        Object.assign(script.dataset, { link: chosen, text: 'In our colours', class: 'ours' })
        const loaded = new Promise((resolve) => script.addEventListener('load', resolve))
        document.body.append(script)
        await loaded
      }
      const made = document.querySelectorAll<HTMLElement>('a.ours')
      return [...made].map((anchor) => [anchor.textContent, anchor.getAttribute('style')])
    },
    { source: `${net.urls.web}/button.js`, address: `${net.urls.web}${link}` },
  )
  expect(links).toEqual([['In our colours', null]])
  await page.reload()

  // A page that stops the event stays where it is.
  await page.evaluate(() => {
    const heard: unknown[] = []
    Object.assign(window, { heard })
    addEventListener('paydesk:paid', (event) => {
      event.preventDefault()
      heard.push(
        event instanceof CustomEvent && event.detail,
        (event.target as Element).textContent,
      )
    })
    addEventListener('paydesk:closed', () => heard.push('closed'))
  })
  const heard = () => page.evaluate(() => Reflect.get(window, 'heard') as unknown[])
  const opening = context.waitForEvent('page')
  await page.getByRole('link', { name: 'the print' }).click()
  const checkout = await opening
  await connectOnLink(checkout, 'MetaMask')
  await signButton(checkout, 'MetaMask').click()
  await expectPaid(checkout)
  await expect
    .poll(heard)
    .toEqual([
      { paymentId: expect.stringMatching(/^pay_/), link: link.split('/').at(-1) },
      'the print',
    ])
  const closed = checkout.waitForEvent('close')
  await checkout.getByRole('link', { name: textLike('Back to {host}') }).click()
  await closed
  // The next click opens a window again: the page has seen that this one is closed, and stayed.
  const again = context.waitForEvent('page')
  await page.getByRole('link', { name: 'the print' }).click()
  await (await again).close()
  await expect.poll(heard).toHaveLength(3)
  expect(page.url()).toBe(shopPage)

  // What a browser does that blocks windows: the link leads there in the same tab.
  await page.evaluate(() => {
    window.open = () => null
  })
  await page.getByRole('link', { name: 'the print' }).click()
  await expect(page).toHaveURL(`${net.urls.web}${link}`)
})
