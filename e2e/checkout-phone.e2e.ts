import { devices, type Locator, type Page } from '@playwright/test'
import {
  ComputeBudgetProgram,
  type Connection,
  type Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js'
import { createWalletClient, http, parseEther, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { fundEthereum, fundSolana } from './chain.ts'
import { expectPaid, openCheckout } from './checkout.ts'
import { copied } from './clipboard.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './expect-accessible.ts'
import { onEthereum, onSolana } from './orders.ts'
import { startLyingProxy } from './lying-proxy.ts'
import { createLinkByApi, createShortLinkByApi, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

test('a wallet that scans the EIP-681 code pays, and the page asks the payer to sign for what arrived', async ({
  net,
  chains,
  visitor,
  expectError,
}) => {
  const payer = await fundEthereum(chains, '1')
  const page = await visitor()
  await openCheckout(page, onEthereum(net, '0.0181'))
  await page.getByRole('button', { name: text('Pay with a phone') }).click()
  await expect(page.getByRole('img', { name: textLike('Code for {name}') })).toBeVisible()
  await page.getByText(text('Wallet code'), { exact: true }).click()
  const sender = page.getByLabel(text('Your paying address'))
  await sender.fill(payer.address)
  // A part of the page that does not load is no fault of the browser's storage.
  expectError(/ERR_FAILED .*\/assets\//)
  await page.route('**/assets/*', (route) => route.abort())
  await sender.press('Enter')
  const refusal = page.getByRole('dialog').getByRole('alert')
  await expect(refusal).toContainText(text('Nothing was sent.'))
  await expect(refusal).not.toContainText('store')
  await page.unroute('**/assets/*')
  await sender.press('Enter')
  const code = page.getByRole('img', {
    name: textLike('Wallet code: pay {amount} to {recipient}', { amount: '0.0181 ETH' }),
  })
  await expect(code).toBeVisible()
  await expectAccessible(page, 'checkout: code for a phone')

  const uri = await copiedCode(page)
  const [, to, chainId, value] = /^ethereum:(0x[0-9a-fA-F]{40})@(\d+)\?value=(\d+)$/.exec(uri) ?? []
  expect({ chainId: Number(chainId), value: BigInt(value ?? 0) }).toEqual({
    chainId: net.evm.chainId,
    value: parseEther('0.0181'),
  })
  const wallet = createWalletClient({
    account: privateKeyToAccount(payer.privateKey),
    transport: http(net.evm.rpcUrl),
  })
  await wallet.sendTransaction({ chain: null, to: to as `0x${string}`, value: BigInt(value ?? 0) })
  await expect(
    page.getByRole('heading', { name: text('Confirm this payment is yours') }),
  ).toBeVisible({ timeout: 30_000 })
  await expect(code).toBeHidden()
})

const PHONES = { 'an iPhone': devices['iPhone 13'], 'an Android phone': devices['Pixel 7'] }

for (const [phone, device] of Object.entries(PHONES)) {
  test(`on ${phone} a payment opens in the app of a wallet, and nobody is sent to another phone`, async ({
    browser,
    net,
    seller,
  }) => {
    const shop = await signInByApi(await seller(), net, '/links')
    const link = await createLinkByApi(shop, net, { amount: 0.0183, description: 'Tea' })
    // Apps of wallets open https alone.
    const origin = 'https://pay.example'
    await using proxy = await startLyingProxy(net.urls, { path: '/none', change: (body) => body })
    const { userAgent, viewport, isMobile, hasTouch } = device
    const context = await browser.newContext({ userAgent, viewport, isMobile, hasTouch })
    await context.route(`${origin}/**`, async (route) => {
      const { pathname, search } = new URL(route.request().url())
      if (pathname === '/config.json') return route.fulfill({ json: { proxyUrl: origin } })
      // A kept connection that the server has just closed is opened again, as browsers do it.
      const response = await route.fetch({ url: proxy.url + pathname + search, maxRetries: 1 })
      await route.fulfill({ response })
    })
    const page = await context.newPage()
    await page.goto(origin + link)
    await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
    const dialog = page.getByRole('dialog')
    const inApp = (wallet: string) =>
      dialog.getByRole('link', { name: text('Open this page in {wallet}', { wallet }) })
    await expect(inApp('MetaMask')).toHaveAttribute(
      'href',
      `https://link.metamask.io/dapp/pay.example${link}`,
    )
    await expect(inApp('Phantom')).toHaveAttribute(
      'href',
      `https://phantom.app/ul/browse/${encodeURIComponent(origin + link)}?ref=${encodeURIComponent(origin)}`,
    )
    await expect(dialog.getByText(text('Continue on a phone'))).toHaveCount(0)
    await expect(dialog.getByText(text('Mobile wallets need HTTPS.'))).toHaveCount(0)

    await dialog.getByRole('button', { name: text('Close') }).click()
    await page.getByRole('button', { name: text('Pay in a wallet’s app') }).click()
    await expect(
      dialog.getByRole('link', { name: text('Open {wallet}', { wallet: 'MetaMask' }) }),
    ).toHaveAttribute('href', `https://link.metamask.io/dapp/pay.example${link}`)

    // The secret of an invitation is in no address of another server.
    await page.goto(`${origin}/join#${'a'.repeat(43)}`)
    await page
      .getByRole('banner')
      .getByRole('button', { name: text('Connect'), exact: true })
      .click()
    await expect(
      dialog.getByText(text('Open the invitation link in your wallet’s browser.')),
    ).toBeVisible()
    await expect(inApp('MetaMask')).toHaveCount(0)
    await expect(inApp('Phantom')).toHaveCount(0)
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })
}

test('a page without https opens no wallet’s app, and says why', async ({ net, visitor }) => {
  const page = await visitor()
  await openCheckout(page, onEthereum(net, '0.0184'))
  await page.getByRole('button', { name: text('Pay with a phone') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('MetaMask', { exact: true }).click()
  await expect(dialog.getByText(text('Mobile wallets need HTTPS.'))).toBeVisible()
  await expect(
    dialog.getByRole('link', { name: text('Open {wallet}', { wallet: 'MetaMask' }) }),
  ).toHaveCount(0)
})

test('a wallet that scans the Solana Pay code pays, also after a transaction that failed, and the dashboard finds the payment by its memo', async ({
  net,
  chains,
  visitor,
}) => {
  const payer = await fundSolana(chains, 2)
  const page = await visitor()
  await openCheckout(page, onSolana(net, '0.181'))
  await showCode(page, payer)
  await expect(solanaCode(page)).toBeVisible()

  const url = new URL(await copiedCode(page))
  expect(url.searchParams.get('amount')).toBe('0.181')
  const memo = url.searchParams.get('memo') ?? ''
  expect(memo).toMatch(/^pay_[1-9A-HJ-NP-Za-km-z]{22}$/)
  const payment = { to: url.pathname, lamports: 181_000_000, memo }
  const failed = await payAsWallet(chains.solana, payer, { ...payment, units: 200 })
  await expect
    .poll(async () => (await chains.solana.getSignatureStatus(failed)).value?.confirmationStatus, {
      timeout: 60_000,
    })
    .toBe('finalized')
  expect((await chains.solana.getSignatureStatus(failed)).value?.err).not.toBeNull()
  await expect(solanaCode(page)).toBeVisible()
  await payAsWallet(chains.solana, payer, payment)
  await expectPaid(page)
})

test('a payment by code outlives the price, a reload and another visit, and ends with the way back to the shop', async ({
  net,
  chains,
  seller,
  visitor,
}) => {
  const merchant = await signInByApi(await seller(), net, '/links')
  const link = await createShortLinkByApi(merchant, net, {
    description: 'Print',
    reference: 'PRINT-1',
    returnUrl: `${net.urls.seller}/thanks?payment={PAYMENT_ID}`,
  })
  const payer = await fundSolana(chains, 2)
  const page = await visitor()
  await page.goto(link)
  const solana = page.getByLabel(text('Currency')).getByRole('option', { name: /^[\d.]+ SOL/ })
  await page.getByLabel(text('Currency')).selectOption({ label: await solana.first().innerText() })
  await showCode(page, payer)
  await expect(solanaCode(page)).toBeVisible()
  const url = new URL(await copiedCode(page))

  // Another visit finds the price expired, and the payment open.
  await page.route('**/api/link/open', async (route) => {
    const response = await route.fetch()
    const opened = (await response.json()) as { quotedAt: number }
    await route.fulfill({ response, json: { ...opened, expiresAt: opened.quotedAt - 1 } })
  })
  await page.reload()
  await expect(solanaCode(page)).toBeVisible()
  await page.goto(link)
  await expect(page.getByText(text('Price expired'))).toBeVisible()
  await expect(page.getByText(text('A payment is still open'))).toBeVisible()
  await expect(page.getByText(text('Nothing was sent.'))).toHaveCount(0)
  await page.unroute('**/api/link/open')
  await page.getByRole('link', { name: text('Continue') }).click()
  await expect(solanaCode(page)).toBeVisible()

  const memo = url.searchParams.get('memo') ?? ''
  const lamports = Number(parseUnits(url.searchParams.get('amount') ?? '', 9))
  await payAsWallet(chains.solana, payer, { to: url.pathname, lamports, memo })
  await expectPaid(page)
  await expect(page.getByRole('link', { name: textLike('Back to {host}') })).toHaveAttribute(
    'href',
    `${net.urls.seller}/thanks?payment=${memo}`,
  )
})

test('the code of a link is hidden once the link takes no payment', async ({
  net,
  chains,
  seller,
  visitor,
}) => {
  const shop = await signInByApi(await seller(), net, '/links')
  const link = await createShortLinkByApi(shop, net, {
    description: 'Print',
    reference: 'PRINT-2',
    maxPayments: 1,
  })
  const payer = await fundSolana(chains, 2)
  const page = await visitor()
  await page.goto(link)
  const solana = page.getByLabel(text('Currency')).getByRole('option', { name: /^[\d.]+ SOL/ })
  await page.getByLabel(text('Currency')).selectOption({ label: await solana.first().innerText() })
  await showCode(page, payer)
  await expect(solanaCode(page)).toBeVisible()
  await shop.reload()
  const row = shop.getByRole('listitem').filter({ hasText: 'PRINT-2' })
  await row.getByRole('button', { name: text('Deactivate') }).click()
  await expect(row).toContainText(text('Deactivated'))
  await page.reload()
  await expect(page.getByText(text('This code has expired. Do not pay it.'))).toBeVisible()
  await expect(solanaCode(page)).toHaveCount(0)
  await expectAccessible(page, 'checkout: code that may not be paid any more')
})

test('the code of a payment that failed is hidden, and another one is made', async ({
  net,
  chains,
  visitor,
}) => {
  const [payer, other] = [await fundSolana(chains, 2), await fundSolana(chains, 2)]
  const confirmed = (signature: string) =>
    expect
      .poll(
        async () => (await chains.solana.getSignatureStatus(signature)).value?.confirmationStatus,
      )
      .toMatch(/confirmed|finalized/)
  const page = await visitor()
  await openCheckout(page, onSolana(net, '0.182'))
  const building = page.waitForResponse((response) => response.url().endsWith('/transaction/send'))
  await showCode(page, payer)
  await expect(solanaCode(page)).toBeVisible()
  const first = new URL(await copiedCode(page)).searchParams.get('memo')
  const built: { transaction: string } = await (await building).json()
  const away = { to: other.publicKey.toBase58(), lamports: 1_900_000_000, memo: 'away' }
  await confirmed(await payAsWallet(chains.solana, payer, away))
  // What the service built can run once; it fails here, because the wallet has too little left.
  const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
  transaction.sign([payer])
  await chains.solana.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
  await expect(page.getByRole('button', { name: text('Prepare it again') })).toBeVisible({
    timeout: 60_000,
  })
  await expect(solanaCode(page)).toBeHidden()
  await expect(page.getByRole('button', { name: text('Copy code') })).toBeHidden()
  await expectAccessible(page, 'checkout: code of a payment that failed')
  const back = { to: payer.publicKey.toBase58(), lamports: 1_900_000_000, memo: 'back' }
  await confirmed(await payAsWallet(chains.solana, other, back))
  await page.getByRole('button', { name: text('Prepare it again') }).click()
  await expect(solanaCode(page)).toBeVisible()
  expect(new URL(await copiedCode(page)).searchParams.get('memo')).not.toBe(first)
})

async function showCode(page: Page, payer: Keypair): Promise<void> {
  await page.getByRole('button', { name: text('Pay with a phone') }).click()
  await page.getByText(text('Wallet code'), { exact: true }).click()
  await page.getByLabel(text('Your paying address')).fill(payer.publicKey.toBase58())
  await page.getByRole('button', { name: text('Show the code') }).click()
}

function solanaCode(page: Page): Locator {
  return page.getByRole('img', { name: textLike('Wallet code: pay {amount} to {recipient}') })
}

/** As the specification has wallets do it: the memo right before the transfer. */
async function payAsWallet(
  connection: Connection,
  payer: Keypair,
  { to, lamports, memo, units }: { to: string; lamports: number; memo: string; units?: number },
): Promise<string> {
  const transaction = new Transaction().add(
    new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(memo) }),
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: new PublicKey(to), lamports }),
  )
  if (units !== undefined) transaction.add(ComputeBudgetProgram.setComputeUnitLimit({ units }))
  const { blockhash } = await connection.getLatestBlockhash()
  Object.assign(transaction, { recentBlockhash: blockhash, feePayer: payer.publicKey })
  transaction.sign(payer)
  return connection.sendRawTransaction(transaction.serialize(), {
    skipPreflight: units !== undefined,
  })
}

function copiedCode(page: Page): Promise<string> {
  return copied(page, page.getByRole('button', { name: text('Copy code') }))
}
