import { privateKeyToAddress } from 'viem/accounts'
import { parseEther } from 'viem'
import { expectAbsent } from './absent.ts'
import { until } from './chain.ts'
import { connect, pay } from './checkout.ts'
import { expect, test, type Person } from './fixtures.ts'
import { expectAccessible } from './expect-accessible.ts'
import { onEthereum } from './orders.ts'
import { randomPrivateKey } from './random.ts'
import { paymentRows, signIn, signInByApi } from './seller.ts'
import { oneOf, text, textLike } from './text.ts'

async function openManaged({ page }: Person): Promise<void> {
  await page.goto('/links')
  await connect(page, 'MetaMask')
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(page.getByRole('button', { name: text('New link') })).toBeVisible()
  await page.goto('/pay')
  // People of the account pay from the dashboard.
  await expect(page.getByRole('navigation').first()).toBeVisible()
  await page.getByText(text('Managed wallet'), { exact: true }).click()
  await expect(page.getByLabel(text('From the managed wallet'))).toBeVisible()
}

async function fillIn({ page }: Person, to: string, amount: string): Promise<void> {
  await page.getByLabel(text('To'), { exact: true }).fill(to)
  await page.getByLabel(text('Amount')).fill(amount)
  await page.getByLabel(text('Description')).fill('Rent')
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expect(page.getByRole('heading', { name: text('Check and sign') })).toBeVisible()
}

test('an operator pays from a managed wallet with one signature over exactly that, and without it nothing is paid', async ({
  chains,
  seller,
}) => {
  const shop = await seller()
  const { page, ethereum } = shop
  const payee = privateKeyToAddress(randomPrivateKey())
  await openManaged(shop)
  await expectAccessible(page, 'managed wallet: form')
  await fillIn(shop, payee, '0.0171')
  await expectAccessible(page, 'managed wallet: review')

  ethereum.signing = 'reject'
  await page
    .getByRole('button', {
      name: text('Sign and pay with {walletName}', { walletName: 'MetaMask' }),
    })
    .click()
  await expect(page.getByRole('alert').filter({ hasText: text('Not signed') })).toContainText(
    text('Nothing was sent.'),
  )
  await expectAccessible(page, 'managed wallet: not signed')
  expect(await chains.evm.getBalance({ address: payee })).toBe(0n)

  // What this browser cannot store is not sent.
  ethereum.signing = 'approve'
  await page.evaluate(() => {
    const put = IDBObjectStore.prototype.put
    IDBObjectStore.prototype.put = function fail() {
      IDBObjectStore.prototype.put = put
      throw new DOMException('full', 'QuotaExceededError')
    }
  })
  await page
    .getByRole('button', {
      name: text('Sign and pay with {walletName}', { walletName: 'MetaMask' }),
    })
    .click()
  await expect(page.getByRole('alert').filter({ hasText: text('Not paid') })).toContainText(
    text('Nothing was sent.'),
  )
  expect(await chains.evm.getBalance({ address: payee })).toBe(0n)

  await page
    .getByRole('button', {
      name: text('Sign and pay with {walletName}', { walletName: 'MetaMask' }),
    })
    .click()
  await expect(page.getByRole('heading', { name: text('Payment sent') })).toBeVisible()
  await until(
    async () => (await chains.evm.getBalance({ address: payee })) === parseEther('0.0171'),
    'the payee’s money',
  )
  await expect(page.getByText(oneOf(['Confirmed', 'Finalized'])).first()).toBeVisible({
    timeout: 30_000,
  })
  await expectAccessible(page, 'managed wallet: sent')
  // The operator's own wallet signed words and sent nothing.
  expect(ethereum.sent).toEqual([])
})

test('an operator refunds a payment from a managed wallet with two activations and a signature, and the payment says so', async ({
  net,
  chains,
  buyer,
  seller,
}) => {
  test.slow()
  const customer = await buyer({ ether: '1' })
  await pay(customer.page, 'MetaMask', onEthereum(net, '0.0189'))
  const shop = await seller()
  const page = await signIn(shop)
  await paymentRows(page).filter({ hasText: '0.0189' }).getByRole('link').first().click()
  await page.getByLabel(text('Amount')).fill('0.0121')
  await page.getByLabel(textLike('Reason')).fill('One cup is broken.')
  const till = page.getByLabel(text('Pay from')).getByRole('option').last()
  await page.getByLabel(text('Pay from')).selectOption((await till.getAttribute('value')) ?? '')
  const { address } = customer.ethereum
  const before = await chains.evm.getBalance({ address })
  await page.getByRole('button', { name: text('Review refund') }).click()
  await expect(page.getByRole('heading', { name: text('Check and sign') })).toBeVisible()
  const review = page.getByRole('main')
  await expect(review).toContainText('One cup is broken.')
  await expect(review.getByRole('term').getByText(text('Balance'))).toBeVisible()
  await expect(review.getByRole('term').getByText(text('Network fee'))).toBeVisible()
  await expectAccessible(page, 'refund: from a managed wallet')
  await page
    .getByRole('button', {
      name: text('Sign and pay with {walletName}', { walletName: 'MetaMask' }),
    })
    .click()
  await expect(page.getByRole('heading', { name: text('Payment sent') })).toBeVisible()
  await until(
    async () => (await chains.evm.getBalance({ address })) - before === parseEther('0.0121'),
    'the refund',
  )
  expect(shop.ethereum.sent).toEqual([])
  // Opened again, the address prepares nothing that was signed.
  await expect(page).not.toHaveURL(/[?&]amount=/)
  await page.reload()
  await expect(page.getByRole('button', { name: text('Review refund') })).toBeVisible()
  await expectAbsent(page.getByRole('heading', { name: text('Check and sign') }))
  await page.getByRole('main').getByRole('link', { name: '0.0189 ETH' }).click()
  const refunded = page.getByRole('term').getByText(text('Refunded'), { exact: true })
  await expect(refunded).toBeVisible()
  await expect(page.getByLabel(text('Amount'))).toHaveValue('0.0068')
  await expect(page.getByRole('listitem').filter({ hasText: '0.0121' })).toBeVisible()
  await page.goto('/payments?type=received')
  const row = paymentRows(page).filter({ hasText: '0.0189' })
  await expect(row.getByText(text('Partly refunded'), { exact: true })).toBeVisible()
})

test('an answer that got lost is not a second payment: after a reload the same request goes on', async ({
  chains,
  seller,
  expectError,
}) => {
  expectError(/ERR_FAILED|ERR_CONNECTION|Failed to fetch|net::/)
  const shop = await seller()
  const { page } = shop
  // A computer's clock that is ten minutes fast is no reason to call the payment late.
  await page.clock.install({ time: Date.now() + 600_000 })
  const payee = privateKeyToAddress(randomPrivateKey())
  await openManaged(shop)
  await fillIn(shop, payee, '0.0172')
  // The request arrives, its answer does not.
  await page.route('**/api/hosted/send', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await page
    .getByRole('button', {
      name: text('Sign and pay with {walletName}', { walletName: 'MetaMask' }),
    })
    .click()
  await expect(
    page.getByRole('heading', { name: text('Checking whether it was sent') }),
  ).toBeVisible()
  await expect(page.getByRole('button', { name: /Sign|New payment|Change/ })).toHaveCount(0)
  await page.unroute('**/api/hosted/send')
  await page.reload()
  await page.getByText(text('Managed wallet'), { exact: true }).click()
  await expect(page.getByRole('heading', { name: text('Payment sent') })).toBeVisible({
    timeout: 30_000,
  })
  await until(
    async () => (await chains.evm.getBalance({ address: payee })) > 0n,
    'the payee’s money',
  )
  expect(await chains.evm.getBalance({ address: payee })).toBe(parseEther('0.0172'))
})

test('a payment that a restored service may have forgotten is not called unsent: the operator looks on the chain first', async ({
  seller,
}) => {
  const shop = await seller()
  const { page } = shop
  await openManaged(shop)
  await fillIn(shop, privateKeyToAddress(randomPrivateKey()), '0.0173')
  const restoredAt = Date.now()
  await page.route('**/api/hosted/send', (route) =>
    route.fulfill({ json: { state: 'unknown', paymentId: null, restoredAt } }),
  )
  await page
    .getByRole('button', {
      name: text('Sign and pay with {walletName}', { walletName: 'MetaMask' }),
    })
    .click()
  const heading = page.getByRole('heading', { name: text('It may have been sent') })
  await expect(heading).toBeVisible()
  await expect(page.getByRole('alert')).toContainText(
    text('The payment service was restored from a backup'),
  )
  await expectAccessible(page, 'managed wallet: forgotten')
  // It stays until the operator has looked.
  await page.reload()
  await page.getByText(text('Managed wallet'), { exact: true }).click()
  await expect(heading).toBeVisible()
  await page.getByRole('button', { name: text('Start again') }).click()
  await expect(page.getByRole('button', { name: text('Review payment') })).toBeVisible()
  await page.reload()
  await page.getByText(text('Managed wallet'), { exact: true }).click()
  await expect(page.getByRole('button', { name: text('Review payment') })).toBeVisible()
  await expectAbsent(heading)
})

test('an operator whom the proxy does not tell what became of a payment looks first, and can go on', async ({
  seller,
  expectError,
}) => {
  expectError(/404/)
  const shop = await seller()
  const { page } = shop
  await openManaged(shop)
  await fillIn(shop, privateKeyToAddress(randomPrivateKey()), '0.0174')
  // As another operator in the same browser is answered.
  await page.route('**/api/hosted/send', (route) =>
    route.continue({ postData: { ...route.request().postDataJSON(), nonce: 'a'.repeat(32) } }),
  )
  await page
    .getByRole('button', {
      name: text('Sign and pay with {walletName}', { walletName: 'MetaMask' }),
    })
    .click()
  const heading = page.getByRole('heading', { name: text('It may have been sent') })
  await expect(heading).toBeVisible()
  await expect(page.getByRole('alert')).toContainText(text('Check Payments before paying again.'))
  await expectAccessible(page, 'managed wallet: not told')
  await page.getByRole('button', { name: text('Start again') }).click()
  await page.reload()
  await page.getByText(text('Managed wallet'), { exact: true }).click()
  await expect(page.getByRole('button', { name: text('Review payment') })).toBeVisible()
  await expectAbsent(heading)
})

test('more than its cap is refused in the form, and a buyer sees nothing of managed wallets', async ({
  net,
  seller,
  buyer,
}) => {
  const shop = await seller()
  await openManaged(shop)
  // What the address asks for stays when the managed wallet pays, as for a refund of an unmatched transfer.
  const { network } = onEthereum(net, '1.5')
  const to = privateKeyToAddress(randomPrivateKey())
  const asked = { network, to, amount: '1.5', reference: '0xTransaction' }
  await shop.page.goto(`/pay?${new URLSearchParams(asked).toString()}`)
  await shop.page.getByText(text('Managed wallet'), { exact: true }).click()
  await expect(shop.page.getByLabel(text('To'), { exact: true })).toHaveValue(to)
  await expect(shop.page.getByLabel(text('Reference'))).toHaveValue('0xTransaction')
  await expect(shop.page.getByLabel(text('Amount'))).toHaveValue('1.5')
  await shop.page.getByRole('button', { name: text('Review payment') }).click()
  await expect(
    shop.page.getByText(text('Enter at most {maximum}.', { maximum: '1 ETH' })),
  ).toBeVisible()
  await expectAccessible(shop.page, 'managed wallet: refused by its cap')
  const page = await signInByApi(await buyer({ ether: '1' }), net, '/pay')
  await expect(page.getByLabel(text('Amount'))).toBeVisible()
  await expectAbsent(page.getByText(text('Managed wallet')))
})
