import { formatEther } from 'viem'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

test('an operator sees what a managed wallet holds, is warned when it is low, tops it up and pays from it', async ({
  net,
  chains,
  seller,
  expectError,
}) => {
  const shop = await seller()
  const page = await signInByApi(shop, net, '/balances')
  const ethereum = page.getByRole('region', { name: net.networks[0]?.name ?? '' })
  const { address } = net.wallets.managed.evm
  const wallet = ethereum.getByRole('listitem').filter({ hasText: 'Payouts' })
  const held = await chains.evm.getBalance({ address })
  const spelled = Number(formatEther(held)).toLocaleString('en', { maximumFractionDigits: 0 })
  await expect(wallet).toContainText(spelled.slice(0, 3))
  await expect(wallet.getByText(text('Managed'), { exact: true })).toBeVisible()
  await expect(ethereum.getByText(textLike('Block {0}, read <0/>'))).toBeVisible()
  await expect(ethereum.getByText(text('Total'))).toBeVisible()
  await expectAccessible(page, 'balances: list')

  // By keyboard: an alert above what the wallet holds.
  await tabTo(wallet.getByRole('button', { name: text('Set alert') }))
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(text('Alert below')).fill('9999999')
  await expectAccessible(page, 'balances: alert')
  await page.keyboard.press('Enter')
  await expect(wallet.getByText(text('Low balance'))).toBeVisible()

  await page.goto('/')
  const row = page
    .getByRole('listitem')
    .filter({ hasText: textLike('Low balance: {name} on {place}', { name: 'Payouts' }) })
  await row.getByRole('link', { name: text('Top up') }).click()
  await expect(dialog.getByRole('img', { name: new RegExp(address) })).toBeVisible()
  await expect(dialog).toContainText('Payouts')
  await expectAccessible(page, 'balances: top up')
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()

  // An endpoint that is gone is an error, and nobody reads zero.
  expectError(/Failed to load resource/)
  await page.route(`${net.evm.rpcUrl}/`, (route) => route.abort())
  await page.reload()
  await expect(wallet.getByText(text('Balance unavailable')).first()).toBeVisible()
  await expect(ethereum.getByRole('status').first()).toBeVisible()
  await expectAccessible(page, 'balances: out of reach')
  await page.unroute(`${net.evm.rpcUrl}/`)
  const openPayments = page.waitForRequest(/\/api\/payments\?.*status=created/)
  await ethereum.getByRole('button', { name: text('Check again') }).click()
  await openPayments
  await expect(wallet.getByText(text('Low balance'))).toBeVisible()

  await wallet.getByRole('button', { name: text('Set alert') }).click()
  await dialog.getByLabel(text('Alert below')).fill('')
  await dialog.getByRole('button', { name: text('Save') }).click()
  await expect(wallet.getByText(text('Low balance'))).toBeHidden()

  await wallet.getByRole('link', { name: text('Pay from this wallet') }).click()
  await expect(page.getByLabel(text('From the managed wallet'))).toContainText('Payouts')
})
