import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { ARTICLE, settleUntold } from './proofs.ts'
import { signInByApi } from './seller.ts'
import { text } from './text.ts'

/** A seller's server is gone when its settlement lands: the money is there, and nobody was told. */

test('a payment that no server was told of is in the inbox, until the merchant has dealt with it', async ({
  net,
  chains,
  seller,
}) => {
  await settleUntold(net, chains)
  const page = await signInByApi(await seller(), net, '/')
  const told = page.getByText(
    text(
      '{untold, plural, one {# payment with unconfirmed delivery} other {# payments with unconfirmed delivery}}',
      { untold: 1 },
    ),
  )
  await expect(told).toBeVisible({ timeout: 60_000 })
  await page
    .getByRole('listitem')
    .filter({ has: told })
    .getByRole('link', { name: text('Show') })
    .click()
  await expect(
    page.getByRole('heading', { level: 1, name: text('Undelivered payments') }),
  ).toBeVisible()
  await expect(page.getByRole('heading', { name: '1 USDC' })).toBeVisible()
  await expect(page.getByText(ARTICLE)).toBeVisible()
  await expectAccessible(page, 'undelivered: to be dealt with')

  const mark = page.getByRole('button', { name: text('Mark as delivered') })
  await mark.click()
  await expect(page.getByText(text('All done'))).toBeVisible()
  await expectAccessible(page, 'undelivered: none')
  await page.getByRole('button', { name: text('Undo') }).click()
  await expect(mark).toBeVisible()

  // The inbox says to deliver or refund it.
  await page.getByRole('link', { name: text('Refund'), exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name: text('Refund') })).toBeVisible()
  await expect(page.getByLabel(text('Amount'))).toHaveValue('1')
})
