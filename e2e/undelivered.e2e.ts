import { privateKeyToAccount } from 'viem/accounts'
import { giveUsdc, pauseMining } from './chain.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { ARTICLE, authorize } from './proofs.ts'
import { randomPrivateKey } from './random.ts'
import { signInByApi } from './seller.ts'
import { text } from './text.ts'

/** A seller's server is gone when its settlement lands: the money is there, and nobody was told. */

test('a payment that no server was told of is in the inbox, until the merchant has dealt with it', async ({
  net,
  chains,
  seller,
}) => {
  const payer = privateKeyToAccount(randomPrivateKey())
  await giveUsdc(chains, net, { address: payer.address, units: 1_000_000n })
  const paymentPayload = JSON.parse(atob(await authorize(net, payer, 1_000_000n))) as {
    accepted: unknown
  }
  const still = await pauseMining(chains)
  const connection = new AbortController()
  const settlement = fetch(`${net.urls.service}/facilitator/settle`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${net.apiKeys.operator}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      x402Version: 2,
      paymentPayload,
      paymentRequirements: paymentPayload.accepted,
    }),
    signal: connection.signal,
  })
  // The transaction is sent, and no block holds it before the connection has ended.
  await expect
    .poll(() => chains.anvil.getTxpoolStatus().then(({ pending }) => pending), { intervals: [20] })
    .toBeGreaterThan(0)
  connection.abort()
  await expect(settlement).rejects.toThrow('aborted')
  await still[Symbol.asyncDispose]()

  const page = await signInByApi(await seller(), net, '/')
  const told = page.getByText(
    text(
      '{untold, plural, one {# payment was collected and may not be delivered} other {# payments were collected and may not be delivered}}',
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

  await page.getByRole('link', { name: text('Show the payment') }).click()
  await expect(page.getByRole('heading', { name: text('Refund') })).toBeVisible()
})
