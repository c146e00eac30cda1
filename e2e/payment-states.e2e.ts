import { pauseMining } from './chain.ts'
import { connectOnForm, expectPaid, openCheckout, review, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { paymentRows, signIn, signInByApi } from './seller.ts'
import { oneOf, startingWith, text } from './text.ts'

/**
 * The states of a payment, each in its own words, on a chain that is paused, advances block by
 * block, and is reorganized.
 */

test('a payment shows its status: on its way, late, counted, confirmed, and dropped by a reorganization', async ({
  net,
  chains,
  buyer,
  seller,
}) => {
  test.slow()
  const payer = await buyer({ ether: '1' })
  const { page } = await seller()
  await openCheckout(payer.page, onEthereum(net, '0.0431'))
  await connectOnForm(payer.page, 'MetaMask')
  await review(payer.page, 'MetaMask')
  await using chain = await pauseMining(chains)
  await signButton(payer.page, 'MetaMask').click()
  await expect(
    payer.page.getByRole('heading', { name: oneOf(['Sent', 'On its way']) }),
  ).toBeVisible()
  // It is not done yet.
  const step = payer.page.getByRole('list', { name: text('Payment') }).locator('[aria-current]')
  await expect(step).toContainText(text('Wallet'))

  await signIn({ page })
  await paymentRows(page)
    .filter({ hasText: '0.0431' })
    .getByRole('link')
    .first()
    .click({ timeout: 30_000 })
  await expect(
    page.getByText(text('Sent. Waiting for confirmation.'), {
      exact: true,
    }),
  ).toBeVisible()
  await expectAccessible(page, 'payment: on its way')

  // The same response, eleven minutes older.
  await page.route('**/api/payment/status/**', async (route) => {
    const response = await route.fetch()
    const text = (await response.text()).replace(
      /"timestamp":(\d+)/,
      (_, at: string) => `"timestamp":${Number(at) - 11 * 60_000}`,
    )
    await route.fulfill({ response, body: text })
  })
  await page.reload()
  await expect(page.getByText(text('Taking longer than usual'))).toBeVisible()
  await expect(page.getByText(text('Do not pay again or deliver.'))).toBeVisible()
  await expectAccessible(page, 'payment: takes long')
  // A pending response is let through first: aborting it would fail the story.
  await page.unrouteAll({ behavior: 'wait' })
  await page.reload()

  await chain.mine()
  await expect(
    page.getByText(
      text('Unconfirmed: {counted} of {needed} confirmations.', { counted: '1', needed: '2' }),
      {
        exact: true,
      },
    ),
  ).toBeVisible({ timeout: 30_000 })
  await chain.mine()
  await expect(page.getByText(text('Confirmed, becoming final.'), { exact: true })).toBeVisible({
    timeout: 30_000,
  })
  await expectPaid(payer.page)
  await expect(step).toContainText(text('Done'))
  await expectAccessible(page, 'payment: confirmed')

  await chain.takeBack(2)
  await expect(page.getByText(text('Payment rolled back'))).toBeVisible({
    timeout: 30_000,
  })
  await expect(
    page.getByRole('note').filter({ hasText: text('Payment rolled back') }),
  ).toContainText(text('Dropped by a reorganization. It may be included again. Do not deliver.'))
  await expectAccessible(page, 'payment: rolled back')
  await page.goto('/')
  await expect(
    page
      .getByRole('listitem')
      .filter({ hasText: '0.0431' })
      .filter({ hasText: /rolled back/i }),
  ).toBeVisible()
})

test('a payment whose wallet never answered is told as not known, and leads back to where it was', async ({
  net,
  buyer,
}) => {
  const person = await buyer({ ether: '1' })
  const page = await signIn(person)
  await openCheckout(page, onEthereum(net, '0.0432'))
  await review(page, 'MetaMask')
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  person.ethereum.onApproval = () => {
    asked.resolve()
    return answered.promise
  }
  await signButton(page, 'MetaMask').click()
  await expect(
    page.getByRole('heading', {
      name: text('Approve in {walletName}', { walletName: 'MetaMask' }),
    }),
  ).toBeVisible()
  // The heading comes before the wallet's window: a reload between the two asks the wallet nothing.
  await asked.promise
  await page.reload()
  await expect(
    page.getByRole('heading', { name: text('Checking whether it was sent') }),
  ).toBeVisible()

  await page.goto('/payments')
  await paymentRows(page).filter({ hasText: '0.0432' }).getByRole('link').first().click()
  await expect(page.getByText(text('Possibly sent'))).toBeVisible()
  await expect(page.getByText('Do not pay again')).toBeVisible()
  await expectAccessible(page, 'payment: not known whether it was sent')
  await page.getByRole('link', { name: text('Return to payment') }).click()
  answered.resolve()
  await expect.poll(() => person.ethereum.sent).toHaveLength(1)
  await expectPaid(page)
  expect(person.ethereum.sent).toHaveLength(1)
})

test('a payment that failed, one that ran out of time and one that nobody knows say whether money moved', async ({
  net,
  seller,
  expectError,
}) => {
  expectError(/status of 404 .*\/api\/payment\/status\//)
  const page = await signInByApi(await seller(), net, '/payments?status=failed')
  await paymentRows(page).first().getByRole('link').first().click()
  await expect(page.getByText(text('Payment failed'))).toBeVisible()
  // Which one failed last depends on the day: the demo history has both kinds.
  const paymentId = new URL(page.url()).pathname.split('/').at(-1)
  const answer = await page.request.get(`${net.urls.service}/payment/status/${paymentId}`, {
    headers: { authorization: `Bearer ${net.apiKeys.operator}` },
  })
  expect(answer.status()).toBe(200)
  const { blockHeight } = (await answer.json()) as { blockHeight: number | null }
  const sentence =
    blockHeight === null
      ? text('Not executed. Nothing was paid.')
      : text('Failed. Only the network fee was paid.')
  await expect(page.getByText(sentence)).toBeVisible()
  await expectAccessible(page, 'payment: failed')

  await page.goto('/payments?status=expired')
  await paymentRows(page).first().getByRole('link').first().click()
  await expect(page.getByText(text('No payment was found.'))).toBeVisible()
  await expect(
    page.getByText(startingWith('Not received')).or(page.getByText(startingWith('Not paid'))),
  ).toBeVisible()
  await expectAccessible(page, 'payment: expired')

  await page.goto('/payments/pay_1111111111111111111111')
  await expect(page.getByText(text('Payment not found'))).toBeVisible()
  await expectAccessible(page, 'payment: unknown')
})
