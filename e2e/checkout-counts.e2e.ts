import type { Locator, Page } from '@playwright/test'
import bs58 from 'bs58'
import { parseEther } from 'viem'
import { chooseCurrency, expectPaid, openCheckout, signButton } from './checkout.ts'
import { expect, test, type Person } from './fixtures.ts'
import type { Devnet } from '#devnet/network.ts'
import { expectAccessible } from './expect-accessible.ts'
import { onEthereum } from './orders.ts'
import { randomPrivateKey } from './random.ts'
import { createLinkByApi, createProductByApi, createShortLinkByApi, signInByApi } from './seller.ts'
import { startingWith, text, textLike } from './text.ts'

/** How many controls of our pages a customer activates, and where the one filled button is on a phone. */

const PHONE = { width: 390, height: 844 }
/** A name as long as the form allows. */
const LONG = 'Quarterly issue with all supplements, printed and bound, '
  .repeat(3)
  .trim()
  .slice(0, 200)

/** A picture of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

class Activations {
  count = 0

  /** The one filled button of a step: inside the first screen, and then activated. */
  async primary(button: Locator): Promise<void> {
    await expectOnFirstScreen(button)
    await this.control(button)
  }

  /** Any other control of our pages. */
  async control(control: Locator): Promise<void> {
    this.count++
    await control.click()
  }
}

for (const description of ['Tea for two', LONG]) {
  const item = description === LONG ? 'a long name' : 'a short name'
  test(`the first payment of a link for an item with ${item} takes at most three activations, the next two, each button on the first screen of a phone`, async ({
    net,
    seller,
    buyer,
  }) => {
    const shop = await seller()
    await signInByApi(shop, net, '/links')
    const links = [await makeLink(shop, net, description), await makeLink(shop, net, description)]
    const { page } = await buyer({ ether: '1' })
    await page.setViewportSize(PHONE)

    await page.goto(links[0] ?? '')
    await expectWorth(page)
    const first = new Activations()
    await first.primary(page.getByRole('button', { name: text('Connect a wallet to pay') }))
    await first.control(
      page.getByRole('button', {
        name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
      }),
    )
    await payAndReturn(page, first, description)
    expect(first.count).toBeLessThanOrEqual(3)

    await page.goto(links[1] ?? '')
    const next = new Activations()
    await next.primary(page.getByRole('button', { name: text('Review payment') }))
    await payAndReturn(page, next, description)
    expect(next.count).toBeLessThanOrEqual(2)
  })
}

for (const [wallet, currency, price] of [
  // Of one currency there is nothing to choose.
  ['MetaMask', 'ETH', { currency: 'ETH', amount: '0.0161' }],
  ['Phantom', 'SOL', { currency: 'EUR', amount: '1234.56' }],
  ['Phantom', 'USDC · Local Solana', { currency: 'USDC', amount: '1.512345' }],
] as const)
  test(`a link with everything that a link can ask, paid in ${currency} with ${wallet}, has each button on the first screen of a phone`, async ({
    net,
    seller,
    open,
  }) => {
    const shop = await seller()
    await signInByApi(shop, net, '/links')
    const product = await createProductByApi(shop.page, net, {
      name: LONG.slice(0, 120),
      price,
      image: PIXEL,
    })
    const link = await createShortLinkByApi(shop.page, net, {
      product,
      reference: 'INV-C',
      askEmail: true,
      maxPieces: 9,
      expiresAt: Date.now() + 86_400_000,
      returnUrl: 'https://shop.example/thanks',
      resource: 'https://shop.example/issues/autumn',
    })
    // Of the devnet's own accounts, the buyer holds tokens.
    const { page } = await open({
      privateKeys: [net.wallets.buyer.evm.privateKey],
      secretKeys: [bs58.decode(net.wallets.buyer.solana.secretKey)],
    })
    await page.setViewportSize(PHONE)
    await page.goto(link)
    if (currency !== 'ETH') await chooseCurrency(page, ` ${currency}`)
    const activations = new Activations()
    await activations.primary(page.getByRole('button', { name: text('Connect a wallet to pay') }))
    await activations.control(
      page.getByRole('button', { name: textLike('Connect {wallet} on {network}', { wallet }) }),
    )
    await expect(page.getByRole('heading', { name: text('Review and pay') })).toBeVisible()
    await expect(signButton(page, wallet)).not.toHaveAttribute('aria-busy')
    await expectOnFirstScreen(signButton(page, wallet))
    await activations.control(page.getByRole('button', { name: text('Change'), exact: true }))
    // The form again, with the account of the wallet in it.
    await expectOnFirstScreen(page.getByRole('button', { name: text('Review payment') }))
  })

test('a link in USDC on every network takes at most five activations where the first row of the wallet has no money, and nothing is begun there', async ({
  net,
  seller,
  open,
}) => {
  const shop = await signInByApi(await seller(), net, '/links')
  const link = await createShortLinkByApi(shop, net, {
    description: 'Print',
    price: { currency: 'USDC', amount: '10' },
  })
  const { page, ethereum } = await open({
    privateKeys: [randomPrivateKey()],
    secretKeys: [bs58.decode(net.wallets.buyer.solana.secretKey)],
    name: 'Phantom',
  })
  const begun: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/link/pay')) begun.push(request.postData() ?? '')
  })
  await page.setViewportSize(PHONE)
  await page.goto(link)
  const activations = new Activations()
  await activations.primary(page.getByRole('button', { name: text('Connect a wallet to pay') }))
  const row = (network: string) =>
    page.getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'Phantom', network }),
    })
  await activations.control(row('Ethereum'))
  const missing = text('Not enough {symbol} in {wallet} on {place}', {
    symbol: 'USDC',
    wallet: 'Phantom',
    place: 'Local Ethereum',
  })
  await expect(page.getByText(missing).first()).toBeVisible()
  const currency = page.getByLabel(text('Currency'))
  await expect(currency.getByRole('option', { selected: true })).toHaveText(/USDC · Local Ethereum/)
  await expect(currency).toHaveAccessibleDescription(/0\.00\sUSDC/)
  await expectAccessible(page, 'link: too little in the wallet that was connected')
  expect(begun).toEqual([])
  const offer = text('Pay with {otherWallet} on {otherPlace}', {
    otherWallet: 'Phantom',
    otherPlace: 'Local Solana',
  })
  await activations.control(page.getByRole('button', { name: offer }))
  await activations.control(row('Solana'))
  await expect(signButton(page, 'Phantom')).not.toHaveAttribute('aria-busy')
  await activations.primary(signButton(page, 'Phantom'))
  await expectPaid(page)
  expect(activations.count).toBeLessThanOrEqual(5)
  expect(begun).toHaveLength(1)
  expect(ethereum.requests).not.toContain('eth_sendTransaction')
})

test('a first payment without a link takes at most four activations, each button on the first screen of a phone', async ({
  net,
  buyer,
}) => {
  const { page } = await buyer({ ether: '1' })
  await page.setViewportSize(PHONE)
  await openCheckout(page, onEthereum(net, '0.0162'))
  const activations = new Activations()
  await activations.primary(page.getByRole('button', { name: text('Connect a wallet to pay') }))
  await activations.control(
    page.getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
    }),
  )
  await activations.primary(page.getByRole('button', { name: text('Review payment') }))
  await expect(signButton(page, 'MetaMask')).not.toHaveAttribute('aria-busy')
  await activations.primary(signButton(page, 'MetaMask'))
  await expectPaid(page)
  expect(activations.count).toBeLessThanOrEqual(4)
})

test('a first x402 purchase takes at most four activations, each button on the first screen of a phone', async ({
  net,
  chains,
  buyer,
  expectError,
}) => {
  expectError(/status of 402/)
  const { page, ethereum } = await buyer({ ether: '1' })
  const before = await chains.evm.getBalance({ address: net.wallets.seller.evm.address })
  await page.setViewportSize(PHONE)
  await page.goto('/explore')
  await page.getByLabel(text('URL')).fill(`${net.urls.seller}/articles/settlement-without-banks`)
  const activations = new Activations()
  await activations.primary(page.getByRole('button', { name: text('Request'), exact: true }))
  await activations.primary(
    page.getByRole('button', { name: text('Connect a wallet to pay') }).first(),
  )
  await activations.control(
    page.getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
    }),
  )
  await expect(page.getByRole('heading', { name: text('Review and pay') })).toBeVisible()
  await expect(signButton(page, 'MetaMask')).not.toHaveAttribute('aria-busy')
  await activations.primary(signButton(page, 'MetaMask'))
  // What was bought comes first, in view, and how it was paid after it.
  const purchase = page.getByRole('heading', { name: text('Your purchase') })
  await expect(purchase).toBeInViewport({ timeout: 45_000 })
  const paid = page.getByRole('heading', { name: startingWith('Paid') })
  await expect(paid).toBeVisible({ timeout: 45_000 })
  expect((await purchase.boundingBox())?.y).toBeLessThan((await paid.boundingBox())?.y ?? 0)
  expect(activations.count).toBeLessThanOrEqual(4)
  expect(ethereum.typed).toEqual(['PaymentProof'])
  expect((await chains.evm.getBalance({ address: net.wallets.seller.evm.address })) - before).toBe(
    parseEther('0.01'),
  )
})

test('a seller signs in with at most two activations, each button on the first screen of a phone', async ({
  seller,
}) => {
  const { page } = await seller()
  await page.setViewportSize(PHONE)
  await page.goto('/payments')
  const activations = new Activations()
  await activations.primary(page.getByRole('button', { name: text('Connect a wallet') }))
  await activations.control(
    page.getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
    }),
  )
  await expect(page.getByRole('list', { name: textLike('Payments') })).toBeVisible()
  expect(activations.count).toBeLessThanOrEqual(2)
})

/** From the review on. Merchant, item, reference and test network are named on each step. */
async function payAndReturn(page: Page, activations: Activations, item: string): Promise<void> {
  await expect(page.getByRole('heading', { name: text('Review and pay') })).toBeVisible()
  await expect(signButton(page, 'MetaMask')).not.toHaveAttribute('aria-busy')
  await expectNamed(page, item)
  await expectWorth(page)
  await activations.primary(signButton(page, 'MetaMask'))
  await expectPaid(page)
  await expectNamed(page, item)
  await expectOnFirstScreen(
    page.getByRole('link', { name: text('Back to {host}', { host: 'shop.example' }) }),
  )
}

/** 0.0161 × 3120.45 = 50.239245, rounded up: a price in crypto is told in money that people know, too. */
async function expectWorth(page: Page): Promise<void> {
  const price = text('about {price}', { price: '$50.24' })
  await expect(page.getByText(price, { exact: true }).first()).toBeVisible()
}

async function expectNamed(page: Page, item: string): Promise<void> {
  await expect(page.getByRole('navigation')).toHaveCount(0)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Paydesk')
  await expect(page.getByText(item).first()).toBeVisible()
  await expect(page.getByText('INV-C').first()).toBeVisible()
  await expect(page.getByText(text('Test network')).first()).toBeVisible()
}

async function expectOnFirstScreen(button: Locator): Promise<void> {
  await expect(button).toBeVisible()
  // Another currency is another form: the button that was there before may be taken away at any moment.
  await expect
    .poll(() =>
      button.evaluate((element, height) => {
        const { left, right, top, bottom } = element.getBoundingClientRect()
        // Bars at the bottom may cover what is inside of the screen.
        const hit = document.elementFromPoint((left + right) / 2, bottom - 2)
        return {
          scrolled: window.scrollY,
          uncovered: hit !== null && element.contains(hit),
          inside: element.isConnected && top >= 0 && bottom <= height,
        }
      }, PHONE.height),
    )
    .toEqual({ scrolled: 0, uncovered: true, inside: true })
}

/** The signed-in seller's link for 0.0161 ETH, with an item, a reference and a way back. */
function makeLink({ page }: Person, net: Devnet, description: string): Promise<string> {
  return createLinkByApi(page, net, {
    amount: 0.0161,
    description,
    reference: 'INV-C',
    returnUrl: 'https://shop.example/thanks',
  })
}
