import bs58 from 'bs58'
import { parseEther } from 'viem'
import { until } from './chain.ts'
import {
  chooseCurrency,
  connect,
  connectOnForm,
  connectOnLink,
  expectPaid,
  expectReviewed,
  signButton,
} from './checkout.ts'
import { copied } from './clipboard.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './expect-accessible.ts'
import { randomPrivateKey } from './random.ts'
import { createShortLinkByApi, downloaded, signInByApi } from './seller.ts'
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
  let opened = 0
  await page.route('**/api/link/open', async (route) => {
    opened++
    const response = await route.fetch()
    const answer = (await response.json()) as { quotedAt: number }
    await route.fulfill({ response, json: { ...answer, expiresAt: answer.quotedAt - 1 } })
  })
  await page.goto(link)
  await expect(page.getByText('€12.50').first()).toBeVisible()
  await expect(page.getByText(text('Price expired'))).toBeVisible()
  // Before the page's code is there, and not again once it is.
  expect(opened).toBe(1)
  await expect(page.getByRole('button', { name: text('Connect a wallet to pay') })).toHaveCount(0)
  await expectAccessible(page, 'link: price expired')
  await page.unroute('**/api/link/open')
  await page.getByRole('button', { name: text('Refresh price') }).click()
  await expect(page.getByText(text('Price expired'))).toHaveCount(0)
  await expect(page.getByRole('heading', { name: text('Payment details') })).toBeFocused()
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
  await expect(shop.page).toHaveURL(/\/payments\?q=lnk_[1-9A-HJ-NP-Za-km-z]{22}$/)
  const row = shop.page.getByRole('row').filter({ hasText: 'Autumn issue' })
  await row.getByRole('link').first().click()
  await expect(shop.page.getByText('ana@post.example')).toBeVisible()
  const cards = await shop.page.getByRole('heading', { level: 2 }).allInnerTexts()
  expect(cards[0]).toBe(text('Details'))
  const ofLink = shop.page.locator('dl > div').filter({
    has: shop.page.getByRole('term').getByText(text('Payment link'), { exact: true }),
  })
  // Only the e-mail address is of the payer: the link sets the rest.
  const apart = shop.page.getByText(text('From the payer (unverified)'))
  await expect(apart).toHaveCount(1)
  await expect(apart.locator('xpath=following::dl').first().getByRole('term')).toHaveText([
    text('Email'),
  ])
  // Half of it is half of the price that was paid, whatever it is worth now.
  const back = shop.page.getByLabel(text('Amount'))
  const worth = (price: string) => text('{price} at the payment’s rate', { price })
  await expect(back).toHaveAccessibleDescription(worth('€12.50'))
  await back.fill('0.002171165')
  await expect(back).toHaveAccessibleDescription(worth('€6.25'))

  // The link of a payment is found among all others.
  await ofLink.getByRole('link').click()
  const links = shop.page.getByRole('list', { name: text('Payment links') })
  await expect(links.getByRole('listitem')).toHaveCount(1)
  await expect(links).toContainText('INV-EUR')
  await shop.page.getByRole('link', { name: text('All payment links') }).click()
  await expect(shop.page).toHaveURL(/\/links$/)
})

test('a quantity that is not sold is refused where it is typed, and another device gets what was chosen', async ({
  net,
  seller,
  buyer,
  expectError,
}) => {
  // The wallet holds too little.
  expectError(/status of 400 .*\/api\/link\/pay/)
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
    await expect(quantity).toHaveAccessibleDescription(text('Enter 1 to {most}.', { most: '10' }))
    // In one line, and no price contradicts it.
    expect((await wrong.boundingBox())?.height).toBeLessThan(30)
    await expect(page.getByText('€12.50')).toHaveCount(0)
    await expect(page.getByText(/[0-9] WETH ·/)).toHaveCount(0)
    await expect(phone).toHaveCount(0)
  }
  await expectAccessible(page, 'link: a quantity that is not sold')
  await quantity.fill('3')
  await expect(wrong).toHaveCount(0)
  await phone.click()
  await page.goto(await copied(page, page.getByRole('button', { name: text('Copy link') })))
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
  // Of a fixed price nobody can pay less.
  await review.click()
  await expect(
    page.getByText(text('Change currency, network or account, or add funds:')),
  ).toBeVisible()
  await expect(page.getByText(text('Pay less, switch accounts, or add funds:'))).toHaveCount(0)
})

test('the quantity and the currency of a link outlive a reload of the review, and a payment by code goes on at its link', async ({
  net,
  seller,
  buyer,
}) => {
  const shop = await signInByApi(await seller(), net, '/links')
  const link = await createShortLinkByApi(shop, net, {
    description: 'Print',
    reference: 'PRINT-11',
    maxPieces: 10,
    askEmail: true,
  })
  const { page } = await buyer({ ether: '1' })
  await page.goto(link)
  const quantity = page.getByLabel(text('Quantity'))
  const visits = await page.evaluate(() => history.length)
  await chooseCurrency(page, ' ETH ·')
  await quantity.fill('3')
  // The address is what an app of a wallet opens.
  await expect(page).toHaveURL(/network=eip155.*asset=0x.*pieces=3/)
  expect(await page.evaluate(() => history.length)).toBe(visits)
  await page.getByLabel(text('Email')).fill('ana@post.example')
  await connectOnLink(page, 'MetaMask')

  await page.reload()
  await expectReviewed(page, 'MetaMask')
  await page.getByRole('button', { name: text('Change'), exact: true }).click()
  await expect(page.getByRole('heading', { name: text('Payment details') })).toBeFocused()
  const expectKept = async () => {
    await expect(quantity).toHaveValue('3')
    await expect(page.getByLabel(text('Email'))).toHaveValue('ana@post.example')
    await expect(
      page.getByLabel(text('Currency')).getByRole('option', { selected: true }),
    ).toHaveText(/ ETH ·/)
    await expect(page.getByText('€37.50').first()).toBeVisible()
    await expect(page.getByLabel(text('To'), { exact: true })).toHaveCount(0)
    await expect(page.getByLabel(text('Amount'))).toHaveCount(0)
  }
  await expectKept()

  await page.getByRole('button', { name: text('Pay with a phone') }).click()
  await page.getByText(text('Wallet code'), { exact: true }).click()
  await page.getByRole('button', { name: text('Show the code') }).click()
  const another = page.getByRole('button', { name: text('Pay another way') })
  await expect(another).toBeVisible()
  await page.goto('/pay')
  await page.getByRole('link', { name: text('Continue') }).click()
  await another.click()
  await expectKept()
})

test('the quantity of a link is on every step, in print, in the receipt’s file and where it is verified', async ({
  net,
  seller,
  open,
}) => {
  const shop = await signInByApi(await seller(), net, '/links')
  const link = await createShortLinkByApi(shop, net, {
    description: 'Print',
    price: { currency: 'USDC', amount: '1.5' },
    maxPieces: 10,
  })
  const { page, solana } = await open({
    privateKeys: [randomPrivateKey()],
    secretKeys: [bs58.decode(net.wallets.buyer.solana.secretKey)],
  })
  const approved = Promise.withResolvers<void>()
  solana.onApproval = () => approved.promise
  const counted = page.getByText('3 × 1.5 USDC', { exact: true })
  await page.goto(link)
  await page.getByLabel(text('Quantity')).fill('3')
  await expect(counted).toBeVisible()
  await chooseCurrency(page, 'USDC · Local Solana')
  await connectOnLink(page, 'Phantom')
  await expect(counted).toBeVisible()
  // A token and its fee in SOL have one total in money that people know.
  const total = page.getByRole('definition').filter({ hasText: /USDC and up to [\d.]+\sSOL/ })
  await expect(total).toContainText(/about \$\d/)
  await signButton(page, 'Phantom').click()
  await expect(
    page.getByRole('heading', { name: text('Approve in {walletName}', { walletName: 'Phantom' }) }),
  ).toBeVisible()
  await expect(counted).toBeVisible()
  approved.resolve()
  await expectPaid(page)
  await expect(counted).toBeVisible()
  await page.emulateMedia({ media: 'print' })
  await expect(counted).toBeVisible()
  await page.emulateMedia({ media: 'screen' })
  const receipt = await downloaded(page, () =>
    page.getByRole('button', { name: text('Receipt as JSON') }).click(),
  )
  expect(JSON.parse(receipt.text)).toMatchObject({
    amount: '4.5',
    quantity: { pieces: 3, price: { currency: 'USDC', amount: '1.5' } },
  })
  await page.goto('/verify')
  const proof = page.getByLabel(text('Payment to check'))
  await proof.fill(receipt.text)
  await expect(counted).toBeVisible()
  await expect(page.getByText(text('Does not match'))).toHaveCount(0)
  await proof.fill(receipt.text.replace('"pieces":3', '"pieces":13'))
  await expect(page.getByText(text('Does not match'))).toBeVisible()
})

test('a link on every network is paid with a wallet of any network, and what is typed keeps its place', async ({
  net,
  seller,
  buyer,
}) => {
  const shop = await signInByApi(await seller(), net, '/links')
  const link = await createShortLinkByApi(shop, net, {
    description: 'Print',
    reference: 'PRINT-12',
    askEmail: true,
  })
  const { page } = await buyer({ sol: 2 })
  await page.goto(link)
  const email = page.getByLabel(text('Email'))
  await email.fill('ana@post.example')
  await connectOnLink(page, 'Phantom')
  await page.getByRole('button', { name: text('Change'), exact: true }).click()
  await expect(email).toHaveValue('ana@post.example')
  const options = page.getByLabel(text('Currency')).getByRole('option')
  await expect(options.and(page.getByRole('option', { selected: true }))).toHaveText(/ SOL ·/)

  // On the next visit the balances arrive while the payer types.
  const typed = Promise.withResolvers<void>()
  await page.route(`${net.solana.rpcUrl}/**`, async (route) => {
    await typed.promise
    await route.fallback()
  })
  await page.goto(link)
  await expect(options.first()).not.toHaveText(/ SOL ·/)
  await email.pressSequentially('ana')
  typed.resolve()
  await expect(options.first()).toHaveText(/ SOL ·/)
  await page.keyboard.type('@post.example')
  await expect(email).toHaveValue('ana@post.example')
})

test('the header names a test network by what is paid, beside a main network', async ({
  net,
  seller,
  visitor,
}) => {
  const shop = await signInByApi(await seller(), net, '/links')
  const link = await createShortLinkByApi(shop, net, { description: 'Print' })
  const page = await visitor()
  await page.route('**/api/config', async (route) => {
    const response = await route.fetch()
    const config = (await response.json()) as { networks: { network: string }[] }
    const networks = config.networks.map((each) => ({
      ...each,
      testnet: each.network.startsWith('eip155:'),
    }))
    await route.fulfill({ response, json: { ...config, networks } })
  })
  const badge = page.getByText(text('Test network'), { exact: true })
  await page.goto(link)
  await chooseCurrency(page, ' ETH ·')
  await expect(badge).toBeVisible()
  await chooseCurrency(page, ' SOL ·')
  await expect(badge).toHaveCount(0)
  for (const { network } of net.networks) {
    await page.goto(`/pay?${new URLSearchParams({ network }).toString()}`)
    await expect(page.getByLabel(text('Network'))).toHaveValue(network)
    await expect(badge).toHaveCount(network.startsWith('eip155:') ? 1 : 0)
  }
})
