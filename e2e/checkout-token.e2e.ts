import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import { installGuardProgram, until } from './chain.ts'
import { connectOnForm, expectPaid, openCheckout, review, signButton } from './checkout.ts'
import { expect, test } from './fixtures.ts'
import { onSolana } from './orders.ts'
import { startingWith, text } from './text.ts'
import { LIGHTHOUSE } from './wallets/solana.ts'

/** A payment in a token of Solana from the form to the receipt, with the guards that Phantom adds on mainnet. */

test('a buyer pays 1.512345 USDC on Solana, guards and all, and the seller has it to the last unit', async ({
  net,
  chains,
  open,
}) => {
  await installGuardProgram(chains, LIGHTHOUSE.toBase58())
  const seller = new PublicKey(net.wallets.seller.solana.address)
  const mint = new PublicKey(net.solana.tokens['USDC']?.address ?? '')
  const holdings = async () => {
    const { value } = await chains.solana.getTokenAccountsByOwner(seller, { mint }, 'confirmed')
    return value.reduce((sum, { account }) => sum + account.data.readBigUInt64LE(64), 0n)
  }
  const before = await holdings()

  // Of the devnet's own accounts, the buyer holds tokens.
  const { page, solana } = await open({
    privateKeys: [net.wallets.buyer.evm.privateKey],
    secretKeys: [bs58.decode(net.wallets.buyer.solana.secretKey)],
  })
  solana.addGuards = true
  await openCheckout(page, onSolana(net, '1.512345'))
  await page.getByLabel(text('Currency')).selectOption({ label: 'USDC' })
  await connectOnForm(page, 'Phantom')
  await review(page, 'Phantom')
  await expect(page.getByRole('row', { name: startingWith('Amount') })).toContainText(
    '1.512345 USDC',
  )
  await expect(page.getByRole('row', { name: startingWith('Currency') })).toContainText(
    mint.toBase58(),
  )
  await expect(page.getByRole('row', { name: startingWith('Account rent') })).toContainText(
    text('nothing'),
  )
  await signButton(page, 'Phantom').click()
  await expectPaid(page)

  expect(solana.signed).toHaveLength(1)
  await until(async () => (await holdings()) - before === 1_512_345n, 'the seller’s 1.512345 USDC')
})
