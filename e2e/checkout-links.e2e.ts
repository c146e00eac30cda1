import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import { erc20Abi, parseEther, type Address } from 'viem'
import { countSent, until } from './chain.ts'
import { connect, connectOnLink, expectPaid, expectReviewed, signButton } from './checkout.ts'
import { expect, test, type Person } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { startLyingProxy } from './lying-proxy.ts'
import { onSolana } from './orders.ts'
import { createLinkByApi, signInByApi } from './seller.ts'
import { expectAccessible } from './expect-accessible.ts'
import { oneOf, startingWith, text, textLike } from './text.ts'

const PHONE = { width: 390, height: 844 }

type Wish = {
  network: RegExp
  amount: string
  description: string
  reference?: string
  returnUrl?: string
  many?: boolean
  currency?: string
}

/** The seller signs in and makes a link by hand; what the buyer gets is its address. */
async function makeLink({ page }: Person, wish: Wish): Promise<string> {
  await page.goto('/links')
  await connect(page, 'MetaMask')
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await page.getByRole('button', { name: text('New link') }).click()
  const dialog = page.getByRole('dialog', { name: text('New link') })
  const network = await dialog
    .getByLabel(text('Network'))
    .locator('option', { hasText: wish.network })
    .getAttribute('value')
  await dialog.getByLabel(text('Network')).selectOption(network)
  if (wish.currency)
    await dialog.getByLabel(text('Currency')).selectOption({ label: wish.currency })
  await dialog.getByLabel(text('Amount')).fill(wish.amount)
  await dialog.getByLabel(text('Description')).fill(wish.description)
  if (wish.reference) await dialog.getByLabel(text('Reference')).fill(wish.reference)
  if (wish.returnUrl) await dialog.getByLabel(text('Return URL')).fill(wish.returnUrl)
  if (wish.many) await dialog.getByText(text('Any number')).click()
  await dialog.getByRole('button', { name: text('Create link') }).click()
  const share = page.getByRole('dialog', { name: text('Share') })
  const address = await share.getByText(/^https?:\/\//).innerText()
  await share.getByRole('button', { name: text('Close') }).click()
  return address
}

const CASES = [
  { wallet: 'MetaMask', network: /Ethereum/, amount: '0.0151', symbol: 'ETH' },
  { wallet: 'Phantom', network: /Solana/, amount: '0.151', symbol: 'SOL' },
] as const

for (const { wallet, network, amount, symbol } of CASES) {
  test(`a seller asks for ${amount} ${symbol} with a link, and a stranger on a phone pays exactly that`, async ({
    net,
    chains,
    seller,
    buyer,
  }) => {
    const shop = await seller()
    const holdings = async () =>
      symbol === 'ETH'
        ? chains.evm.getBalance({ address: net.wallets.seller.evm.address })
        : BigInt(await chains.solana.getBalance(new PublicKey(net.wallets.seller.solana.address)))
    const link = await makeLink(shop, {
      network,
      amount,
      description: 'Tea for two',
      reference: `INV-${symbol}`,
      returnUrl: 'https://shop.example/thanks?p={PAYMENT_ID}',
    })
    const before = await holdings()

    const { page } = await buyer({ ether: '1', sol: 2 })
    await page.setViewportSize(PHONE)
    await page.goto(link)
    await expect(page.getByText(textLike('Request from <0>{setBy}</0>, verified'))).toContainText(
      'Paydesk',
    )
    await expect(page.getByText('Tea for two')).toBeVisible()
    await expect(page.getByLabel(text('Amount'))).toHaveCount(0)
    await expect(page.getByLabel(text('To'), { exact: true })).toHaveCount(0)
    await connectOnLink(page, wallet)
    await signButton(page, wallet).click()
    await expectPaid(page)
    const back = page.getByRole('link', { name: text('Back to {host}', { host: 'shop.example' }) })
    await expect(back).toHaveAttribute(
      'href',
      /^https:\/\/shop\.example\/thanks\?p=pay_[1-9A-HJ-NP-Za-km-z]{22}$/,
    )
    await until(
      async () =>
        (await holdings()) - before === (symbol === 'ETH' ? parseEther(amount) : 151_000_000n),
      'exactly the amount of the link',
    )

    await shop.page.reload()
    const row = shop.page.getByRole('listitem').filter({ hasText: `INV-${symbol}` })
    await expect(row).toContainText('1 of 1 payment', { timeout: 30_000 })
    await expect(row).toContainText(text('Paid'))

    // Who paid is led to the receipt, and never told that nothing was sent or to ask for a new link.
    await page.goto(link)
    await expect(page.getByText(text('You paid this link'))).toBeVisible()
    await expect(page.getByText(text('Payment link already paid'))).toHaveCount(0)
    await expectAccessible(page, 'link: paid from this browser')
    await page.getByRole('link', { name: text('Show receipt') }).click()
    await expectPaid(page)
    await expect(page.getByRole('button', { name: text('Print receipt') })).toBeVisible()

    const late = await buyer({ ether: '1' })
    await late.page.goto(link)
    await expect(late.page.getByRole('alert')).toContainText(text('Payment link already paid'))
    await expect(late.page.getByText(text('Nothing was sent.'))).toHaveCount(0)
    await expectAccessible(late.page, 'link: paid already')
    await expect(
      late.page.getByRole('button', { name: oneOf(['Review payment', 'Connect a wallet to pay']) }),
    ).toHaveCount(0)
  })
}

test('a link in USDC is paid in USDC, to the last unit', async ({ net, chains, seller, open }) => {
  const shop = await seller()
  const link = await makeLink(shop, {
    network: /Ethereum/,
    currency: 'USDC',
    amount: '1.512345',
    description: 'Tea',
    reference: 'INV-USDC',
  })
  const usdc = net.evm.tokens['USDC']?.address as Address
  const holdings = () =>
    chains.evm.readContract({
      abi: erc20Abi,
      address: usdc,
      functionName: 'balanceOf',
      args: [net.wallets.seller.evm.address],
    })
  const before = await holdings()
  // Of the devnet's own accounts, the buyer holds tokens.
  const { page } = await open({
    privateKeys: [net.wallets.buyer.evm.privateKey],
    secretKeys: [bs58.decode(net.wallets.buyer.solana.secretKey)],
  })
  await page.goto(link)
  await connectOnLink(page, 'MetaMask')
  await expect(page.getByRole('row', { name: startingWith('Amount') })).toContainText('1.512345')
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  expect((await holdings()) - before).toBe(1_512_345n)
})

test('a signed link with one changed character is refused before any wallet is asked, wherever the change is', async ({
  net,
  chains,
  seller,
  buyer,
  expectError,
}) => {
  expectError(/status of 400 .*\/api\/link\/read/)
  const shop = await signInByApi(await seller(), net)
  const link = await createLinkByApi(shop, net, { amount: 0.0152, description: 'Cake' })
  const { page, ethereum } = await buyer({ ether: '1' })
  const at = link.lastIndexOf('/') + 1
  for (const place of [at, at + 42, at + 60, link.length - 3]) {
    const other = link[place] === 'A' ? 'B' : 'A'
    await page.goto(link.slice(0, place) + other + link.slice(place + 1))
    await expect(page.getByRole('alert')).toContainText(text('Link changed or incomplete'))
    await expect(page.getByRole('alert')).toContainText(text('Nothing was sent.'))
    await expect(
      page.getByRole('button', { name: oneOf(['Review payment', 'Connect a wallet to pay']) }),
    ).toHaveCount(0)
  }
  await expectAccessible(page, 'link: changed on its way')
  expect(ethereum.requests).not.toContain('eth_sendTransaction')
  expect(await countSent(chains, ethereum.address)).toBe(0)
})

test('a proxy that lies about the terms of a signed link is found out by what stands in the link', async ({
  net,
  seller,
  buyer,
}) => {
  const shop = await signInByApi(await seller(), net)
  const link = await createLinkByApi(shop, net, { amount: 0.0153, description: 'Cake' })
  const { page } = await buyer({ ether: '1' })
  await using proxy = await startLyingProxy(net.urls, {
    path: '/api/link/read',
    change: (body) => body.replace('15300000000000000', '95300000000000000'),
  })
  await page.goto(proxy.url + link)
  await expect(page.getByRole('alert')).toContainText(text('Link terms were changed'))
  await expectAccessible(page, 'link: other terms than the merchant’s')
  await expect(
    page.getByRole('button', { name: oneOf(['Review payment', 'Connect a wallet to pay']) }),
  ).toHaveCount(0)
})

test('a deactivated link takes no payment until it is activated again; an expired one never', async ({
  net,
  seller,
  buyer,
}) => {
  const shop = await seller()
  const link = await makeLink(shop, {
    network: /Ethereum/,
    amount: '0.0154',
    description: 'Cake',
    reference: 'INV-W',
    many: true,
  })
  const row = shop.page.getByRole('listitem').filter({ hasText: 'INV-W' })
  await row.getByRole('button', { name: text('Deactivate') }).click()
  await expect(row).toContainText(text('Deactivated'))
  const { page } = await buyer({ ether: '1' })
  await page.goto(link)
  await expect(page.getByRole('alert')).toContainText(text('Payment link deactivated'))
  await expectAccessible(page, 'link: deactivated')
  await row.getByRole('button', { name: text('Activate') }).click()
  await expect(row).toContainText(text('Open'))
  await page.reload()
  await expect(page.getByRole('button', { name: text('Connect a wallet to pay') })).toBeVisible()

  const short = await createLinkByApi(shop.page, net, {
    amount: 0.01,
    expiresAt: Date.now() + 15_000,
  })
  await expect(async () => {
    await page.goto(short)
    await expect(page.getByRole('alert')).toContainText(text('Payment link expired'), {
      timeout: 5_000,
    })
  }).toPass()
  await expectAccessible(page, 'link: expired')
})

test('making, sharing and paying a link is accessible', async ({ seller, buyer }) => {
  const shop = await seller()
  const link = await makeLink(shop, {
    network: /Ethereum/,
    amount: '0.0155',
    description: 'Cake',
    reference: 'INV-A',
  })
  await expectAccessible(shop.page, 'links: list')
  await shop.page.getByRole('button', { name: text('New link') }).click()
  await expectAccessible(shop.page, 'links: new one')
  await shop.page.keyboard.press('Escape')
  await shop.page
    .getByRole('listitem')
    .filter({ hasText: 'INV-A' })
    .getByRole('button', { name: text('Share') })
    .click()
  await expect(shop.page.getByRole('img', { name: textLike('Code for {0}') })).toBeVisible()
  await expectAccessible(shop.page, 'links: code to share')
  // The app of a wallet opens no page without HTTPS, so none is offered here.
  await expect(shop.page.getByRole('dialog').getByRole('radio')).toHaveCount(0)

  const { page } = await buyer({ ether: '1' })
  await page.goto(link)
  await expect(page.getByRole('button', { name: text('Connect a wallet to pay') })).toBeVisible()
  await expectAccessible(page, 'link: ready to pay')
})

const DUTIES = [
  { wallet: 'MetaMask', broadcast: () => text('By {walletName}', { walletName: 'MetaMask' }) },
  { wallet: 'Phantom', broadcast: (host: string) => byEndpoint(host) },
] as const

const byEndpoint = (host: string) => text('By your RPC endpoint {host}', { host })

for (const { wallet, broadcast } of DUTIES) {
  test(`with ${wallet} the review says who decoded, simulated and broadcasts a payment and until when, and the printed receipt names all of it`, async ({
    net,
    seller,
    buyer,
  }) => {
    const solana = wallet === 'Phantom'
    const shop = await signInByApi(await seller(), net, '/links')
    const link = await createLinkByApi(shop, net, {
      amount: solana ? 0.157 : 0.0157,
      description: 'Tea for two',
      reference: 'INV-D',
      ...(solana && {
        network: onSolana(net, '1').network,
        recipient: net.wallets.seller.solana.address,
      }),
    })
    const { page } = await buyer({ ether: '1', sol: 2 })
    await page.goto(link)
    await expect(page.getByRole('button', { name: text('Connect a wallet to pay') })).toBeVisible()
    await expect(page.getByRole('button', { name: /Connect/ })).toHaveCount(1)
    await connectOnLink(page, wallet)

    const verified = page.getByText(
      text('<0>Verified:</0> decoded in this browser, simulated on your RPC endpoint.'),
    )
    await expect(verified).toContainText(textLike('Sign within {left}.'))
    const { host } = new URL(solana ? net.solana.rpcUrl : net.evm.rpcUrl)
    const details = page.getByRole('group', { name: text('Details'), exact: true })
    for (const [name, value] of [
      ['Decoded', text('In this browser')],
      ['Simulated', byEndpoint(host)],
      ['Broadcast', broadcast(host)],
      ['Sign before', /\d:\d\d.*, block [\d,]+$/],
    ] as const) {
      const duty = details.locator('dl > div').filter({
        has: page.getByRole('term').getByText(text(name), { exact: true }),
      })
      await expect(duty.getByRole('definition')).toHaveText(value)
    }

    await signButton(page, wallet).click()
    await expectPaid(page)
    await page.emulateMedia({ media: 'print' })
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Paydesk')
    const paid = solana ? net.wallets.seller.solana.address : net.wallets.seller.evm.address
    for (const named of [
      'Tea for two',
      'INV-D',
      solana ? '0.157' : '0.0157',
      text('Test network'),
      text('Payment complete'),
      paid,
    ])
      await expect(page.getByText(named).first(), named).toBeVisible()
    await expect(page.getByRole('button')).toHaveCount(0)
    const pdf = await page.pdf({ format: 'A4' })
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  })
}

test('a link is paid with the keyboard alone', async ({ chains, seller, buyer }) => {
  const shop = await seller()
  const link = await makeLink(shop, { network: /Ethereum/, amount: '0.0156', description: 'Cake' })
  const { page, ethereum } = await buyer({ ether: '1' })
  await page.goto(link)
  await tabTo(page.getByRole('button', { name: text('Connect a wallet to pay') }))
  await page.keyboard.press('Enter')
  await tabTo(
    page.getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
    }),
  )
  await page.keyboard.press('Enter')
  await expectReviewed(page, 'MetaMask')
  await tabTo(page.getByRole('button', { name: text('Change') }))
  await page.keyboard.press('Enter')
  await tabTo(
    page
      .getByRole('group', { name: text('More options') })
      .locator('summary')
      .first(),
  )
  await page.keyboard.press('Enter')
  // The fee is a set of radios: arrows choose.
  await tabTo(page.getByRole('radio', { name: text('Auto') }))
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('radio', { name: text('Low') })).toBeChecked()
  await expect(
    page.getByText(textLike('Priority fee {tip}. Total fee: up to {cap}.')),
  ).toBeVisible()
  await tabTo(page.getByRole('button', { name: text('Review payment') }))
  await page.keyboard.press('Enter')
  await expectReviewed(page, 'MetaMask')
  await tabTo(signButton(page, 'MetaMask'))
  await page.keyboard.press('Enter')
  await expectPaid(page)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('an address that looks like the seller’s, and is another, is told as such', async ({
  net,
  buyer,
}) => {
  const { page } = await buyer({ ether: '1' })
  const real = net.wallets.seller.evm.address.toLowerCase()
  const fake = real.slice(0, 6) + 'a'.repeat(32) + real.slice(-4)
  await page.goto(`/pay?${new URLSearchParams({ to: fake, amount: '0.01' }).toString()}`)
  await expect(page.getByRole('alert')).toContainText(text('Similar to a known address'))
  await expectAccessible(page, 'checkout: known look-alike')
})
