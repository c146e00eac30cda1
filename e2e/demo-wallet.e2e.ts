import { PublicKey } from '@solana/web3.js'
import { parseEther } from 'viem'
import { countSent, until } from './chain.ts'
import { expectPaid, expectReviewed, openCheckout, signButton } from './checkout.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum, onSolana } from './orders.ts'
import { text, textLike } from './text.ts'

const CASES = [
  { symbol: 'ETH', family: 'Ethereum', order: onEthereum, amount: '0.01' },
  { symbol: 'SOL', family: 'Solana', order: onSolana, amount: '0.1' },
] as const

for (const { symbol, family, order, amount } of CASES) {
  test(`the demo wallet pays ${amount} ${symbol} without any extension`, async ({
    net,
    chains,
    visitor,
  }) => {
    const seller = {
      evm: net.wallets.seller.evm.address,
      solana: new PublicKey(net.wallets.seller.solana.address),
    }
    const holdings = async () =>
      symbol === 'ETH'
        ? chains.evm.getBalance({ address: seller.evm })
        : BigInt(await chains.solana.getBalance(seller.solana))
    const before = await holdings()

    const page = await visitor()
    await openCheckout(page, order(net, amount))
    await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
    await page
      .getByRole('button', {
        name: text('Connect {wallet} on {network}', { wallet: 'Demo wallet', network: family }),
      })
      .click()
    const sheet = page.getByRole('dialog', { name: 'Connect this page?' })
    await expect(sheet.getByRole('radio', { name: /Buyer/ })).toBeChecked()
    await sheet.getByRole('button', { name: text('Connect') }).click()

    await page.getByRole('button', { name: text('Review payment') }).click()
    await expectReviewed(page, 'Demo wallet')
    await signButton(page, 'Demo wallet').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await expectPaid(page)
    await until(
      async () =>
        (await holdings()) - before === (symbol === 'ETH' ? parseEther(amount) : 100_000_000n),
      'the seller’s money',
    )
  })
}

test('rejecting in the demo wallet pays nothing', async ({ net, chains, visitor }) => {
  const sent = await countSent(chains, net.wallets.buyer.evm.address)
  const page = await visitor()
  await page.clock.install()
  await openCheckout(page, onEthereum(net, '0.01'))
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await page
    .getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'Demo wallet', network: 'Ethereum' }),
    })
    .click()
  await page
    .getByRole('dialog', { name: 'Connect this page?' })
    .getByRole('button', { name: text('Connect') })
    .click()
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expectReviewed(page, 'Demo wallet')
  await signButton(page, 'Demo wallet').click()
  const reject = page.getByRole('dialog').getByRole('button', { name: 'Reject' })
  await expect(reject).toBeVisible()
  // It asks in the page: what helps with an extension is not told.
  await page.clock.runFor(10_000)
  await expect(page.getByText(text('Nothing happening?'))).toHaveCount(0)
  await reject.click()

  await expect(
    page
      .getByRole('alert')
      .filter({ hasText: text('Cancelled in {wallet}', { wallet: 'Demo wallet' }) }),
  ).toContainText(text('Nothing was sent.'))
  expect(await countSent(chains, net.wallets.buyer.evm.address)).toBe(sent)
})

test('the demo wallet says what a signature pays, and that a sign-in pays nothing', async ({
  net,
  visitor,
  expectError,
}) => {
  expectError(/status of 402/)
  const page = await visitor()
  const connectDemo = async (account: RegExp) => {
    await page
      .getByRole('button', {
        name: text('Connect {wallet} on {network}', { wallet: 'Demo wallet', network: 'Ethereum' }),
      })
      .click()
    const sheet = page.getByRole('dialog', { name: 'Connect this page?' })
    await sheet.getByRole('radio', { name: account }).check()
    await sheet.getByRole('button', { name: text('Connect') }).click()
  }
  await page.goto('/explore')
  await page.getByLabel(text('URL')).fill(`${net.urls.seller}/articles/reading-a-402`)
  await page.getByRole('button', { name: text('Request'), exact: true }).click()
  await page
    .getByRole('button', { name: text('Connect a wallet to pay') })
    .first()
    .click()
  await connectDemo(/Buyer/)
  await expectReviewed(page, 'Demo wallet')
  await signButton(page, 'Demo wallet').click()
  const payment = page.getByRole('dialog', { name: 'Sign this payment?' })
  await expect(payment).toContainText('This signature authorizes the payment.')
  await expect(payment).toContainText('1 USDC')
  await expect(payment).toContainText(net.wallets.seller.evm.address)
  await expect(payment).not.toContainText('moves no money')
  await payment.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByRole('heading', { name: text('Your purchase') })).toBeVisible({
    timeout: 45_000,
  })

  await page.goto('/payments')
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(page.getByRole('dialog', { name: 'Sign this message?' })).toContainText(
    'It moves no money.',
  )
})
