import { connectOnForm, expectPaid, expectReviewed, signButton } from './checkout.ts'
import { countSent } from './chain.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { startStandardFixture, useUpActions } from './standard-fixture.ts'
import { text } from './text.ts'

test('a dashboard over its rate limit pauses, counts down and resumes; form input and payments are kept', async ({
  net,
  chains,
  buyer,
  expectError,
}) => {
  test.slow()
  expectError(/status of 429/)
  await using fixture = await startStandardFixture(net)
  const { page, ethereum } = await buyer({ ether: '1' })
  await page.goto(`${fixture.web}/pay?${new URLSearchParams(onEthereum(net, '0.01')).toString()}`)
  await page.getByText(text('More options')).click()
  await page.getByText(text('Description and reference')).click()
  await page.getByLabel(text('Description')).fill('One article')
  await page.getByLabel(text('Reference')).fill('order-429')
  await connectOnForm(page, 'MetaMask')

  const others = await useUpActions(fixture, net)
  await page.getByRole('button', { name: text('Review payment') }).click()
  const countdown = page.getByText(/Resuming in [1-9]\d* s\.$/)
  await expect(countdown).toBeVisible()
  await expect(page.getByText(text('Paused, resuming automatically.'))).toBeVisible()
  await expect(page.getByRole('button', { name: text('Try again') })).toHaveCount(0)
  await expectAccessible(page, 'checkout: paused by a limit')

  await others.stop()
  await expectReviewed(page, 'MetaMask')
  await expect(countdown).toHaveCount(0)

  // From here the chain is asked, not the proxy: a pause in the middle of a payment delays nothing.
  const again = await useUpActions(fixture, net)
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  await again.stop()
  await expect(page.getByText('order-429')).toBeVisible()
  await expect(page.getByText('One article')).toBeVisible()
  await page.getByRole('link', { name: text('Show the payment') }).click()
  await expect(page.getByText(text('Matches the service’s record.'))).toBeVisible({
    timeout: 60_000,
  })
  expect(await countSent(chains, ethereum.address)).toBe(1)
  await page.close()
})
