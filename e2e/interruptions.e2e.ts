import type { Locator, Page } from '@playwright/test'
import { PublicKey } from '@solana/web3.js'
import { parseEther } from 'viem'
import { ProviderError } from '#devnet/demo-wallet/owner.ts'
import { countSent, signaturesOf, until } from './chain.ts'
import {
  connect,
  connectOnForm,
  connectOnLink,
  expectPaid,
  expectReviewed,
  openCheckout,
  review,
  signButton,
} from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum, onSolana } from './orders.ts'
import { createLinkByApi, signInByApi } from './seller.ts'
import { oneOf, text, textLike } from './text.ts'

/** What Chromium says on the console about requests it could not make. */
const OFFLINE = /ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|ERR_FAILED|WebSocket connection/

test('the network is cut right after a Solana wallet signed; after a reload there is exactly one payment', async ({
  net,
  chains,
  buyer,
  expectError,
}) => {
  expectError(OFFLINE)
  const { context, page, solana } = await buyer({ sol: 2 })
  solana.afterSigning = () => context.setOffline(true)
  await openCheckout(page, onSolana(net, '0.1'))
  await connectOnForm(page, 'Phantom')
  await review(page, 'Phantom')
  await signButton(page, 'Phantom').click()
  await expect(
    page.getByRole('heading', { name: oneOf(['Signed, waiting for the network', 'Sent']) }),
  ).toBeVisible()
  expect(await signaturesOf(chains, new PublicKey(solana.address))).toHaveLength(1)
  await expectAccessible(page, 'checkout: signed and offline')

  await context.setOffline(false)
  await page.reload()
  await expectPaid(page)
  expect(solana.signed).toHaveLength(1)
  expect(await signaturesOf(chains, new PublicKey(solana.address))).toHaveLength(2)
})

test('the network is cut right after MetaMask sent; after a reload there is exactly one payment', async ({
  net,
  chains,
  buyer,
  expectError,
}) => {
  expectError(OFFLINE)
  const { context, page, ethereum } = await buyer({ ether: '1' })
  ethereum.afterBroadcast = () => context.setOffline(true)
  await openCheckout(page, onEthereum(net, '0.01'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expect(
    page.getByRole('heading', {
      name: oneOf(['Sent', 'On its way', 'Checking whether it was sent', 'Checking the chain']),
    }),
  ).toBeVisible()

  await context.setOffline(false)
  await page.reload()
  await expectPaid(page)
  expect(ethereum.sent).toHaveLength(1)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('a wallet whose node took the payment and answered that its time ran out: it is followed, and not asked for again', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  const timeout = { code: -32002, message: 'request timed out' }
  ethereum.afterBroadcast = async () => {
    throw new ProviderError(-32603, 'Internal JSON-RPC error.', timeout)
  }
  await openCheckout(page, onEthereum(net, '0.0101'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  expect(ethereum.requests.filter((method) => method === 'eth_sendTransaction')).toHaveLength(1)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('a tab closed right after signing: the seller sees the payment, the buyer’s next visit too', async ({
  net,
  chains,
  buyer,
  seller,
}) => {
  const { context, page, ethereum } = await buyer({ ether: '1' })
  const shop = await seller()
  await shop.page.goto('/payments')
  await connect(shop.page, 'MetaMask')
  await shop.page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(shop.page.getByRole('table', { name: textLike('Payments') })).toBeVisible()

  ethereum.afterBroadcast = async () => page.close()
  await openCheckout(page, onEthereum(net, '0.0123'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask')
    .click({ noWaitAfter: true })
    .catch(() => undefined)
  await until(
    async () => (await countSent(chains, ethereum.address)) === 1,
    'the payment on the chain',
  )

  // Nobody reported it: the service's watcher finds it, and the page says so without a reload.
  await shop.page
    .getByRole('button', {
      name: textLike('{count, plural, one {# new payment} other {# new payments}}', { count: 1 }),
    })
    .click({ timeout: 30_000 })
  const row = shop.page.getByRole('row').filter({ hasText: '0.0123' })
  await expect(row).toContainText(/Confirmed|Final/, { timeout: 30_000 })

  const back = await context.newPage()
  await back.goto('/pay')
  await expect(back.getByRole('link', { name: text('Continue') })).toBeVisible()
  await expectAccessible(back, 'checkout: an unfinished payment')
  await back.getByRole('link', { name: text('Continue') }).click()
  await expectPaid(back)
  expect(ethereum.sent).toHaveLength(1)
})

test('a transaction that ran out of time is prepared again in one tap, with everything kept', async ({
  net,
  chains,
  buyer,
}) => {
  test.slow()
  const { page, solana } = await buyer({ sol: 2 })
  await openCheckout(page, onSolana(net, '0.1'))
  await page.getByText(text('More options')).click()
  await page.getByText(text('Description and reference')).click()
  await page.getByLabel(text('Reference')).fill('order-18')
  await connectOnForm(page, 'Phantom')
  await review(page, 'Phantom')

  // 150 blocks are a transaction's life; the embedded chain makes them in about a minute.
  const again = page.getByRole('button', { name: text('Prepare it again') })
  await expect(again).toBeVisible({ timeout: 90_000 })
  await expect(signButton(page, 'Phantom')).toHaveCount(0)
  expect(solana.requests).not.toContain('signTransaction')
  await expectAccessible(page, 'checkout: ran out of time')

  await again.click()
  // Until then the former review is there, with its details unfolded.
  await expect(again).toHaveCount(0)
  await expectReviewed(page, 'Phantom')
  await signButton(page, 'Phantom').click()
  await expectPaid(page)
  await expect(page.getByText('order-18')).toBeVisible()
  expect(await signaturesOf(chains, new PublicKey(solana.address))).toHaveLength(2)
})

test('a wallet left open past the deadline is not asked twice: the late approval is not a second payment', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  ethereum.onApproval = () => {
    asked.resolve()
    return answered.promise
  }
  await openCheckout(page, { ...onEthereum(net, '0.01'), description: 'Tea for two' })
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expect(
    page.getByRole('heading', {
      name: text('Approve in {walletName}', { walletName: 'MetaMask' }),
    }),
  ).toBeVisible()
  await expect(page.getByText('Tea for two')).toBeVisible()
  await expect(signButton(page, 'MetaMask')).toHaveCount(0)
  await expect(
    page.getByRole('button', { name: oneOf(['Prepare it again', 'Cancel']) }),
  ).toHaveCount(0)
  await expectAccessible(page, 'checkout: in the wallet')

  await asked.promise
  await page.reload()
  await expect(
    page.getByRole('heading', { name: text('Checking whether it was sent') }),
  ).toBeVisible()
  await expect(signButton(page, 'MetaMask')).toHaveCount(0)
  await expect(page.getByRole('button', { name: text('Prepare it again') })).toHaveCount(0)
  // This wallet sets nonces itself: asked once more it could pay twice.
  await expect(page.getByRole('button', { name: textLike('Ask {walletName} again') })).toHaveCount(
    0,
  )
  await expectAccessible(page, 'checkout: not known whether it was sent')
  answered.resolve()
  await expectPaid(page)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('a request that MetaMask never answers is left for the form, which warns of it, and is paid once', async ({
  net,
  chains,
  seller,
  buyer,
}) => {
  test.slow()
  const shop = await seller()
  const link = await createLinkByApi(await signInByApi(shop, net, '/links'), net, {
    amount: 0.0131,
    description: 'Tea for one',
  })
  const { page, ethereum } = await buyer({ ether: '1' })
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  ethereum.onApproval = () => {
    asked.resolve()
    return answered.promise
  }
  await page.goto(link)
  await connectOnLink(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await asked.promise
  // The wallet has the word for minutes: the way out is there all the time.
  const back = page.getByRole('button', { name: text('Back to the form') })
  const reject = page.getByText(
    text('To restart, reject it in {walletName} first.', { walletName: 'MetaMask' }),
  )
  await expect(back).toBeVisible({ timeout: 15_000 })
  await expect(reject).toBeVisible()
  await expectAccessible(page, 'checkout: a wallet that does not answer')
  await page.reload()
  await expect(
    page.getByRole('heading', { name: text('Checking whether it was sent') }),
  ).toBeVisible()
  await expect(reject).toBeVisible()
  ethereum.signing = 'reject'
  answered.resolve()
  await back.click()
  await expect(page.getByText(text('A payment is still open'))).toBeVisible()
  await expect(page.getByRole('heading', { name: text('Payment details') })).toBeFocused()

  ethereum.signing = 'approve'
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expect(page.getByRole('heading', { name: text('Review and pay') })).toBeVisible()
  await expect(signButton(page, 'MetaMask')).toBeDisabled()
  await page.getByLabel(text('I understand the risk')).check()
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('the endpoint of a payer is down after the wallet sent: the page says what is known, the shop is reached, and the receipt follows', async ({
  net,
  seller,
  buyer,
  expectError,
}) => {
  test.slow()
  expectError(/ERR_FAILED/)
  const shop = await seller()
  const link = await createLinkByApi(await signInByApi(shop, net, '/links'), net, {
    amount: 0.0132,
    description: 'Tea for three',
    returnUrl: 'https://shop.example/thanks',
  })
  const { page, ethereum } = await buyer({ ether: '1' })
  const endpoint = `${net.evm.rpcUrl}/**`
  ethereum.afterBroadcast = async () => {
    await page.route(endpoint, (route) => route.abort())
  }
  await page.goto(link)
  await connectOnLink(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expect(page.getByRole('heading', { name: text('Sent') })).toBeVisible()
  await expect(page.getByText(text('RPC endpoint does not answer.'))).toBeVisible()
  await expect(
    page.getByRole('heading', { name: text('RPC endpoint does not answer') }),
  ).toBeVisible({ timeout: 60_000 })
  await expect(page.getByText(text('Your payment was sent.'))).toBeVisible()
  await expect(page.getByText(text('Do not pay again.'))).toBeVisible()
  // The merchant says that it is paid, which is no receipt.
  await expect(
    page.getByText(text('Confirmed by {merchant}', { merchant: 'Paydesk' })),
  ).toBeVisible({ timeout: 30_000 })
  const back = page.getByRole('link', { name: text('Back to {host}', { host: 'shop.example' }) })
  await expect(back).toHaveAttribute('href', /^https:\/\/shop\.example\/thanks/)
  await expect(page.getByRole('button', { name: text('Print receipt') })).toHaveCount(0)
  await expectAccessible(page, 'checkout: the endpoint is down after sending')

  const dialog = await openEndpoint(page)
  await dialog.getByRole('textbox').fill(await anotherEndpoint(page, net.evm.rpcUrl))
  await dialog.getByRole('button', { name: text('Test and save') }).click()
  await expectPaid(page)
  await expect(dialog).toHaveCount(0)
  await expect(page.getByRole('heading', { name: text('Payment complete') })).toBeFocused()
  await expect(page.getByRole('button', { name: text('Use another endpoint') })).toHaveCount(0)
  await expect(back).toHaveCount(1)
})

test('a payer whose endpoint does not answer enters another one where the payment is, and goes on with it', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(/ERR_FAILED/)
  const { page } = await buyer({ ether: '1' })
  await openCheckout(page, onEthereum(net, '0.0151'))
  await connectOnForm(page, 'MetaMask')
  await page.route(`${net.evm.rpcUrl}/`, (route) => route.abort())
  await page.getByRole('button', { name: text('Review payment') }).click()
  const dialog = await openEndpoint(page)
  const address = page.url()
  await dialog.getByRole('textbox').fill(net.solana.rpcUrl)
  await dialog.getByRole('button', { name: text('Test and save') }).click()
  await expect(dialog.getByText(text('Not used'))).toBeVisible()
  await dialog.getByRole('textbox').fill(await anotherEndpoint(page, net.evm.rpcUrl))
  await dialog.getByRole('button', { name: text('Test and save') }).click()
  await expect(dialog.getByText(text('Right network, reachable'))).toBeVisible()
  await expectAccessible(page, 'checkout: another endpoint')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: text('Use another endpoint') })).toBeFocused()
  await page.getByRole('button', { name: text('Try again') }).click()
  await expect(page.getByRole('heading', { name: text('Review and pay') })).toBeVisible()
  expect(page.url()).toBe(address)
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
})

/** The dialog of the checkout, with the focus in its field. */
async function openEndpoint(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: text('Use another endpoint') }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('textbox')).toBeFocused()
  return dialog
}

/** Another address of the same node. */
async function anotherEndpoint(page: Page, rpcUrl: string): Promise<string> {
  const url = `${rpcUrl}/another`
  await page.route(url, (route) => route.continue({ url: rpcUrl }))
  return url
}

test('a wallet that keeps the nonce is asked again after its answer was lost, and only one of the two is paid', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  const before = await chains.evm.getBalance({ address: net.wallets.seller.evm.address })
  ethereum.exactNonce = true
  const approvals: (() => void)[] = []
  ethereum.onApproval = () => new Promise<void>((resolve) => approvals.push(resolve))
  await openCheckout(page, onEthereum(net, '0.0177'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expect.poll(() => approvals).toHaveLength(1)
  await page.reload()

  const again = page.getByRole('button', { name: textLike('Ask {walletName} again') })
  await expect(page.getByText(text('Asking again cannot pay twice.'))).toBeVisible()
  await expectAccessible(page, 'checkout: to be tried again with the same nonce')
  ethereum.signing = 'reject'
  await again.click()
  await expect.poll(() => approvals).toHaveLength(2)
  approvals[1]?.()
  await expect(
    page.getByText(text('{walletName} did not send it again.', { walletName: 'MetaMask' })),
  ).toBeVisible()
  await expect(page.getByRole('button', { name: text('Prepare it again') })).toHaveCount(0)

  ethereum.signing = 'approve'
  await again.click()
  await expect.poll(() => approvals).toHaveLength(3)
  approvals[2]?.()
  await expectPaid(page)
  // The first request is approved after all: its nonce is used, so the node refuses it.
  approvals[0]?.()
  await expect.poll(() => ethereum.refusedByNode).toBe(1)
  expect(await countSent(chains, ethereum.address)).toBe(1)
  expect((await chains.evm.getBalance({ address: net.wallets.seller.evm.address })) - before).toBe(
    parseEther('0.0177'),
  )
})

test('storage that is full, or fees that cannot be read, are told where they matter, and the payment can be left', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(/ERR_FAILED/)
  const { page } = await buyer({ ether: '1' })
  await openCheckout(page, onEthereum(net, '0.0102'))
  await connectOnForm(page, 'MetaMask')
  const unstored = page.getByText(text('This browser cannot store payments. Nothing was sent.'))

  const rpc = `${net.evm.rpcUrl}/**`
  await page.route(rpc, (route) =>
    route.request().postData()?.includes('eth_feeHistory') ? route.abort() : route.fallback(),
  )
  await page.getByText(text('More options')).click()
  await page.getByText(text('Low'), { exact: true }).click()
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expect(
    page.getByText(text('Recent fees are unavailable. Choose Auto or Custom.')),
  ).toBeVisible()
  await expect(unstored).toHaveCount(0)
  await page.getByText(text('Auto'), { exact: true }).click()

  const fill = () =>
    page.evaluate(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('The quota is exceeded.', 'QuotaExceededError')
      }
    })
  await fill()
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expect(unstored).toBeVisible()
  await expect(page.getByLabel(text('Amount'))).toHaveValue('0.0102')
  await expectAccessible(page, 'checkout: nothing can be stored')
  await page.reload()
  await review(page, 'MetaMask')
  await fill()
  await page.getByRole('button', { name: text('Change'), exact: true }).click()
  await expect(page.getByLabel(text('Amount'))).toHaveValue('0.0102')
})

test('a payment that another tab has is told so, and goes on here once that tab is closed', async ({
  net,
  chains,
  buyer,
}) => {
  const { context, page, ethereum } = await buyer({ ether: '1' })
  const answered = Promise.withResolvers<void>()
  ethereum.onApproval = () => answered.promise
  await openCheckout(page, onEthereum(net, '0.01'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expect(
    page.getByRole('heading', {
      name: text('Approve in {walletName}', { walletName: 'MetaMask' }),
    }),
  ).toBeVisible()

  const other = await context.newPage()
  await other.goto(page.url())
  await expect(
    other.getByText(text('Open in another tab. Continue there, or close it.')),
  ).toBeVisible()
  await expect(other.getByLabel(text('Amount'))).toHaveCount(0)
  await expectAccessible(other, 'checkout: open in another tab')
  await page.close()
  await expect(
    other.getByRole('heading', { name: text('Checking whether it was sent') }),
  ).toBeVisible()
  answered.resolve()
  await expectPaid(other)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})
