import { connect, pay } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test, type Person } from './fixtures.ts'
import { onEthereum, onSolana } from './orders.ts'
import { text, textLike } from './text.ts'

for (const [wallet, order, symbol] of [
  ['MetaMask', onEthereum, 'ETH'],
  ['Phantom', onSolana, 'SOL'],
] as const) {
  test(`a buyer signs in with ${wallet} and sees only what that wallet paid`, async ({
    net,
    buyer,
  }) => {
    const one = await buyer({ ether: '1', sol: 2 })
    const other = await buyer({ ether: '1', sol: 2 })
    await pay(one.page, wallet, order(net, '0.0311'))
    await pay(other.page, wallet, order(net, '0.0322'))

    // The wallet of the payment is found again by itself.
    await one.page.goto('/payments')
    await signIn(one)
    const table = one.page.getByRole('table', { name: textLike('Payments') })
    await expect(table.getByRole('row').filter({ hasText: `0.0311` })).toContainText(symbol)
    await expect(table.getByRole('row').filter({ hasText: '0.0322' })).toHaveCount(0)
    // The heading and one payment: nothing of the seeded history, nothing of the other buyer.
    await expect(table.getByRole('row')).toHaveCount(2)
  })
}

test('the seller signs in and sees what others paid, beside the seeded history', async ({
  net,
  buyer,
  seller,
}) => {
  const { page } = await buyer({ ether: '1' })
  await pay(page, 'MetaMask', onEthereum(net, '0.0333'))

  const shop = await seller()
  await shop.page.goto('/payments')
  await connect(shop.page, 'MetaMask')
  await signIn(shop)
  const rows = shop.page.getByRole('table', { name: textLike('Payments') }).getByRole('row')
  await expect(rows.filter({ hasText: '0.0333' })).toBeVisible()
  // A list draws its rows a few per frame.
  await expect.poll(() => rows.count()).toBeGreaterThan(10)
})

test('a rejected signature signs nobody in', async ({ buyer }) => {
  const person = await buyer({ ether: '1' })
  person.ethereum.signing = 'reject'
  await person.page.goto('/payments')
  await connect(person.page, 'MetaMask')
  await person.page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(person.page.getByRole('alert')).toContainText(
    text('Cancelled in {wallet}', { wallet: 'MetaMask' }),
  )
  await expectAccessible(person.page, 'shell: sign-in rejected')
  await expect(person.page.getByRole('table')).toHaveCount(0)
})

test('when more was missed than the proxy can repeat, everything is read again', async ({
  seller,
}) => {
  const shop = await seller()
  const { page } = shop
  await page.goto('/payments')
  await connect(page, 'MetaMask')
  await signIn(shop)

  let readings = 0
  page.on('request', (request) => {
    // Opening a stream does not by itself reload this.
    if (new URL(request.url()).pathname === '/api/config') readings++
  })
  // The proxy's own stream is held back until the list is shown; the next attempt is a minute away,
  // so nothing else can refresh it.
  const listed = Promise.withResolvers<void>()
  await page.route('**/api/events', async (route) => {
    await listed.promise
    const headers = {
      'access-control-allow-origin': new URL(page.url()).origin,
      'access-control-allow-credentials': 'true',
    }
    await route.fulfill({
      contentType: 'text/event-stream',
      headers,
      body: 'retry: 60000\nid: 1\nevent: reset\ndata: {}\n\n',
    })
  })
  await page.reload()
  await expect(page.getByRole('table', { name: textLike('Payments') })).toBeVisible()
  expect(readings).toBe(1)
  listed.resolve()
  await expect.poll(() => readings).toBeGreaterThan(1)
})

async function signIn({ page }: Person): Promise<void> {
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(page.getByRole('table', { name: textLike('Payments') })).toBeVisible()
}
