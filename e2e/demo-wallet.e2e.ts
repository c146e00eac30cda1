import { PublicKey } from '@solana/web3.js'
import { parseEther } from 'viem'
import { countSent, until } from './chain.ts'
import { expectPaid, expectReviewed, openCheckout } from './checkout.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum, onSolana } from './orders.ts'
import { text } from './text.ts'

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
    await page
      .getByRole('button', { name: text('Pay with {walletName}', { walletName: 'Demo wallet' }) })
      .click()
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
  await page
    .getByRole('button', { name: text('Pay with {walletName}', { walletName: 'Demo wallet' }) })
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()

  await expect(
    page
      .getByRole('alert')
      .filter({ hasText: text('You cancelled in {wallet}', { wallet: 'Demo wallet' }) }),
  ).toContainText(text('Nothing was sent.'))
  expect(await countSent(chains, net.wallets.buyer.evm.address)).toBe(sent)
})
