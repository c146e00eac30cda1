import { expectPaid, expectReviewed, pay, sign, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { paymentRows, signIn } from './seller.ts'
import { text, textLike } from './text.ts'

/** A buyer wants money back: asked with the wallet that paid, decided by the merchant, seen by both without a reload. */

test('a buyer asks for a refund; the seller declines, then refunds it with two activations and a signature', async ({
  net,
  chains,
  buyer,
  seller,
}) => {
  test.slow()
  const customer = await buyer({ ether: '1' })
  const receipt = customer.page
  await pay(receipt, 'MetaMask', {
    ...onEthereum(net, '0.0423'),
    description: 'Two cups',
  })
  await receipt.getByRole('button', { name: text('Request a refund') }).click()
  await receipt.getByLabel(text('Amount')).fill('0.0123')
  await receipt.getByLabel(textLike('Reason')).fill('One cup is broken.')
  await expectAccessible(receipt, 'refund request: form')
  // The way on is the request, and nothing else is as prominent.
  await expect(receipt.locator('main .bg-accent:is(a, button)')).toHaveText([
    text('Request refund'),
  ])
  await receipt.getByRole('button', { name: text('Request refund') }).click()
  await expect(receipt.getByText(text('Requested'), { exact: true })).toBeVisible()

  const shop = await signIn(await seller(), '/')
  const asked = shop.getByRole('listitem').filter({ hasText: 'One cup is broken.' })
  await expect(asked).toContainText('0.0123')
  await expect(asked).toContainText(text('The customer wrote:'))
  await expect(asked).toContainText('Two cups')
  await expect(asked).toContainText(textLike('Requested by {payer}, {time}.'))
  await expectAccessible(shop, 'refund request: in the inbox')
  const arrivedAt = net.wallets.seller.evm.address
  await expect(asked).not.toContainText(arrivedAt)
  // Where no wallet is registered, the merchant compares where the payment arrived.
  await shop.route('**/api/config', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), sellerWallets: [] } })
  })
  await shop.reload()
  await expect(asked).toContainText(arrivedAt)
  await shop.unroute('**/api/config')
  await shop.reload()

  await asked.getByRole('button', { name: text('Decline') }).click()
  const dialog = shop.getByRole('dialog')
  await dialog.getByLabel(textLike('Note')).fill('Please send it back first.')
  await dialog.getByRole('button', { name: text('Decline') }).click()
  // A notice under the pointer stays, however long the checks below take.
  const undo = shop.getByRole('button', { name: text('Undo') })
  await undo.hover()
  await expect(asked).toHaveCount(0)
  await expect(receipt.getByText(text('Declined'), { exact: true })).toBeVisible()
  await expect(receipt.getByText('Please send it back first.')).toBeVisible()
  await expectAccessible(receipt, 'refund request: declined')
  await undo.click()
  await expect(receipt.getByText(text('Requested'), { exact: true })).toBeVisible()

  const { address } = customer.ethereum
  const before = await chains.evm.getBalance({ address })
  await asked.getByRole('link', { name: text('Refund'), exact: true }).click()
  await expectReviewed(shop, 'MetaMask')
  await expectAccessible(shop, 'refund: review')
  await sign(shop, 'MetaMask')
  await expectPaid(shop)
  expect((await chains.evm.getBalance({ address })) - before).toBe(12_300_000_000_000_000n)

  await expect(receipt.getByText(text('Refunded'), { exact: true })).toBeVisible()
  await expectAccessible(receipt, 'refund request: refunded')
  await shop.goto('/?show=refundRequests')
  await expect(shop.getByText(text('All done'))).toBeVisible()
  await expectAccessible(shop, 'refund requests: none')

  // The list says so, and is narrowed to what it says.
  await shop.goto('/payments')
  await shop.getByRole('button', { name: text('Any status') }).click()
  await shop.getByRole('checkbox', { name: text('Partly refunded') }).check()
  await shop.keyboard.press('Escape')
  await expect(shop).toHaveURL(/status=partly_refunded/)
  const partly = paymentRows(shop).filter({ hasText: '0.0423' })
  await expect(partly.getByText(text('Partly refunded'), { exact: true })).toBeVisible()
  await shop.getByRole('button', { name: text('Clear filters') }).click()
  const narrowed = shop.waitForResponse(/\/api\/payments\?(?:.*&)?q=status/)
  await shop.getByRole('searchbox', { name: text('Search payments') }).fill('status:refunded')
  await narrowed
  await expect(
    paymentRows(shop)
      .first()
      .or(shop.getByText(text('Nothing found'))),
  ).toBeVisible()
  await expect(partly).toHaveCount(0)
  await shop.goto('/?show=refundRequests')

  // The rest is asked for on the receipt that opens later.
  await receipt.getByRole('link', { name: text('Show the payment') }).click()
  await receipt.getByRole('button', { name: text('Request another refund') }).click()
  await expect(receipt.getByLabel(text('Amount'))).toHaveValue('0.03')
  await receipt.getByRole('button', { name: text('Request refund') }).click()
  await expect(receipt.getByText(text('Requested'), { exact: true })).toBeVisible()
  await expect(shop.getByRole('heading', { name: '0.03 ETH' })).toBeVisible()
  await expect(
    shop.getByRole('link', { name: text('Refund {amount}', { amount: '0.03 ETH' }) }),
  ).toBeVisible()
  await expectAccessible(shop, 'refund requests: open')
})

test('a refund that is left before its wallet is asked holds nothing; one whose wallet was asked is released by a person', async ({
  net,
  buyer,
  seller,
}) => {
  const customer = await buyer({ ether: '1' })
  await pay(customer.page, 'MetaMask', onEthereum(net, '0.0431'))
  const shop = await seller()
  const page = await signIn(shop)
  await page.goto('/payments?type=received')
  await paymentRows(page).filter({ hasText: '0.0431' }).getByRole('link').first().click()
  await page.getByRole('button', { name: text('Review refund') }).click()
  await expectReviewed(page, 'MetaMask')
  await page.getByRole('button', { name: text('Change'), exact: true }).click()
  await expect(page.getByLabel(text('Amount'))).toHaveValue('0.0431')
  await page.getByRole('button', { name: text('Review refund') }).click()
  await expectReviewed(page, 'MetaMask')
  // The wallet is asked, and the page left before it answers.
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  shop.ethereum.onApproval = () => {
    asked.resolve()
    return answered.promise
  }
  await signButton(page, 'MetaMask').click()
  await asked.promise
  await page.goto('/payments?type=received')
  await paymentRows(page).filter({ hasText: '0.0431' }).getByRole('link').first().click()
  const waiting = page.getByRole('listitem').filter({ hasText: '0.0431' })
  await expect(waiting).toContainText(textLike('Waiting for a signature since <0/>.'))
  await expect(page.getByRole('button', { name: text('Review refund') })).toHaveCount(0)
  await expectAccessible(page, 'refund: waits for a signature')
  await waiting.getByRole('button', { name: text('Discard refund') }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText(
    text('If the wallet still approves it, the customer may be refunded twice.'),
  )
  await expectAccessible(page, 'refund: release')
  await dialog.getByRole('button', { name: text('Discard refund') }).click()
  await expect(waiting).toHaveCount(0)
  await expect(page.getByLabel(text('Amount'))).toHaveValue('0.0431')
  // What was said comes true: it is approved after all, and the page says so.
  answered.resolve()
  // The service looks for what expired twice a minute.
  await expect(page.getByRole('term').getByText(text('Refunded'), { exact: true })).toBeVisible({
    timeout: 60_000,
  })
})
