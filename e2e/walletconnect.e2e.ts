import { privateKeyToAccount } from 'viem/accounts'
import { startRemoteWallet } from '#testing/walletconnect-wallet.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { fundEthereum } from './chain.ts'
import { expectPaid, openCheckout } from './checkout.ts'
import { copied } from './clipboard.ts'
import { text } from './text.ts'

test('a wallet on another device connects by its code, pays, and is still there after a reload', async ({
  net,
  relay,
  chains,
  visitor,
  expectError,
}) => {
  // WalletConnect's own attestation comes in a frame from its host, which the page's policy lets nobody open.
  expectError(/Framing 'https:\/\/verify\.walletconnect\.org\/' violates/)
  const { privateKey } = await fundEthereum(chains, '1')
  const account = privateKeyToAccount(privateKey)
  const wallet = await startRemoteWallet({
    relayUrl: relay.url,
    account,
    chainIds: [net.evm.chainId],
    rpcUrl: net.evm.rpcUrl,
  })
  const page = await visitor()
  await openCheckout(page, {
    network: `eip155:${net.evm.chainId}`,
    to: net.wallets.seller.evm.address,
    amount: '0.01',
  })
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await page.getByRole('button', { name: text('Scan with another device') }).click()
  await expect(page.getByRole('img', { name: text('Wallet connection code') })).toBeVisible()
  await expectAccessible(page, 'shell: wallet code of WalletConnect')
  const code = page.getByRole('button', { name: text('Copy code as text') })
  await wallet.pair(await copied(page, code))
  await expect(page.getByRole('dialog')).toBeHidden()
  await page.reload()
  await page.getByRole('button', { name: text('Review payment') }).click()
  await page.getByRole('button', { name: text('Pay {amount}', { amount: '0.01 ETH' }) }).click()
  await expectPaid(page)
  expect(wallet.asked.map(({ method }) => method)).toEqual(['eth_sendTransaction'])
  await wallet.close()
})
