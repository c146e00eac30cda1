import { pauseMining } from './chain.ts'
import { connectOnForm, expectPaid, openCheckout, review, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { paymentRows, signIn, signInByApi } from './seller.ts'
import { oneOf, text } from './text.ts'

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

  await signIn({ page })
  await paymentRows(page).filter({ hasText: '0.0431' }).getByRole('link').click({ timeout: 30_000 })
  await expect(
    page.getByText(text('Sent to the network. It does not count as paid until it is confirmed.'), {
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
  await expect(page.getByText(text('This takes longer than usual'))).toBeVisible()
  await expect(
    page.getByText(
      text(
        'It was sent, and the network has not confirmed it. Nothing is lost and nothing is decided: do not pay again, and do not deliver yet.',
      ),
    ),
  ).toBeVisible()
  await expectAccessible(page, 'payment: takes long')
  // A pending response is let through first: aborting it would fail the story.
  await page.unrouteAll({ behavior: 'wait' })
  await page.reload()

  await chain.mine()
  await expect(
    page.getByText(
      text(
        'On the chain with {counted} of {needed} confirmations. It does not count as paid yet.',
        { counted: '1', needed: '2' },
      ),
      {
        exact: true,
      },
    ),
  ).toBeVisible({ timeout: 30_000 })
  await chain.mine()
  await expect(
    page.getByText(text('The payment has arrived. It becomes final in a moment.'), { exact: true }),
  ).toBeVisible({ timeout: 30_000 })
  await expectPaid(payer.page)
  await expectAccessible(page, 'payment: confirmed')

  await chain.takeBack(2)
  await expect(page.getByText(text('This payment was rolled back'))).toBeVisible({
    timeout: 30_000,
  })
  await expect(
    page.getByRole('note').filter({ hasText: text('This payment was rolled back') }),
  ).toContainText('Do not deliver on it; it may still arrive again.')
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
  const answered = Promise.withResolvers<void>()
  person.ethereum.onApproval = () => answered.promise
  await signButton(page, 'MetaMask').click()
  await expect(
    page.getByRole('heading', {
      name: text('Approve in {walletName}', { walletName: 'MetaMask' }),
    }),
  ).toBeVisible()
  await page.reload()
  await expect(
    page.getByRole('heading', { name: text('Checking whether it was sent') }),
  ).toBeVisible()

  await page.goto('/payments')
  await paymentRows(page).filter({ hasText: '0.0432' }).getByRole('link').click()
  await expect(page.getByText(text('It is not known whether this was sent'))).toBeVisible()
  await expect(page.getByText('Do not pay again')).toBeVisible()
  await expectAccessible(page, 'payment: not known whether it was sent')
  await page.getByRole('link', { name: text('Go on') }).click()
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
  await paymentRows(page).first().getByRole('link').click()
  await expect(page.getByText(text('This payment failed'))).toBeVisible()
  await expectAccessible(page, 'payment: failed')

  await page.goto('/payments?status=expired')
  await paymentRows(page).first().getByRole('link').click()
  await expect(
    page.getByText(
      text(
        'Nothing was sent. The transaction ran out of time before it was signed and can no longer be used.',
      ),
    ),
  ).toBeVisible()
  await expectAccessible(page, 'payment: expired')

  await page.goto('/payments/pay_1111111111111111111111')
  await expect(page.getByText(text('No payment under this id'))).toBeVisible()
  await expectAccessible(page, 'payment: unknown')
})
