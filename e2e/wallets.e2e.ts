import type { Page } from '@playwright/test'
import { connect, connectOnForm, expectPaid, openCheckout, review, signButton } from './checkout.ts'
import { countSent } from './chain.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { randomUuid } from './random.ts'
import { text, textLike } from './text.ts'

/** What wallets do at moments nobody asked them to. Their answers to a payment are in `refusals.e2e.ts` and beside the wallet code. */

test('an account that changes, and a wallet that locks, show at once on any page', async ({
  buyer,
}) => {
  const { page, ethereum, solana } = await buyer()
  await page.goto('/settings')
  await connect(page, 'MetaMask')
  await expect(wallets(page)).toHaveAccessibleName(new RegExp(ending(ethereum.address)))
  await ethereum.switchAccount(1)
  await expect(wallets(page)).toHaveAccessibleName(new RegExp(ending(ethereum.address)))
  await ethereum.lock()
  await connect(page, 'Phantom')
  await expect(wallets(page)).toHaveAccessibleName(
    new RegExp(`^Wallets: Phantom .*${ending(solana.address)}$`),
  )
  await solana.switchAccount(1)
  await expect(wallets(page)).toHaveAccessibleName(new RegExp(ending(solana.address)))
})

test('wallets of the last visit come back without a window; a locked one stays away without one', async ({
  buyer,
}) => {
  const { page, ethereum, solana } = await buyer()
  await page.goto('/settings')
  await connect(page, 'MetaMask')
  await wallets(page).click()
  await expect(page.getByRole('menuitem', { name: text('Connect another wallet') })).toBeVisible()
  await expectAccessible(page, 'shell: wallets menu')
  await page.getByRole('menuitem', { name: text('Connect another wallet') }).click()
  await page
    .getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'Phantom', network: 'Solana' }),
    })
    .click()
  await expect(wallets(page)).toHaveAccessibleName(/MetaMask .*Phantom /)
  const asked = () =>
    ethereum.requests.filter(
      (method) => method === 'eth_requestAccounts' || method === 'wallet_requestPermissions',
    ).length
  const before = { ethereum: asked(), solana: solana.windows }

  await page.reload()
  await expect(wallets(page)).toHaveAccessibleName(/MetaMask .*Phantom /)

  await ethereum.lock(false)
  solana.lock()
  const connects = solana.requests.length
  await page.reload()
  await expect.poll(() => solana.requests.length).toBeGreaterThan(connects)
  await expect(
    page.getByRole('banner').getByRole('button', { name: text('Connect'), exact: true }),
  ).toBeVisible()
  expect({ ethereum: asked(), solana: solana.windows }).toEqual(before)
})

test('wallets that announce twice, late, or under a name that is taken are told apart', async ({
  buyer,
}) => {
  const { page } = await buyer()
  await page.goto('/')
  await page
    .getByRole('banner')
    .getByRole('button', { name: text('Connect'), exact: true })
    .click()
  const dialog = page.getByRole('dialog')
  const metaMasks = dialog.getByRole('button', {
    name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
  })
  await expect(metaMasks).toHaveCount(1)

  await announce(page, 'Late Wallet', 'example.late')
  await expect(
    dialog.getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'Late Wallet', network: 'Ethereum' }),
    }),
  ).toBeVisible()
  await announce(page, 'Late Wallet', 'example.late')
  await announce(page, 'MetaMask', 'example.impostor')
  await expect(metaMasks).toHaveCount(2)
  await expect(
    dialog.getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'Late Wallet', network: 'Ethereum' }),
    }),
  ).toHaveCount(1)
  // The first row is still the wallet that was there first.
  // A row is a button as a whole: its edge connects too.
  await metaMasks.first().click({ position: { x: 6, y: 6 } })
  await expect(wallets(page)).toHaveAccessibleName(/MetaMask/)
})

test('one wallet is asked for one signature at a time, across tabs', async ({
  net,
  chains,
  buyer,
}) => {
  const { context, page, ethereum } = await buyer({ ether: '1' })
  await openCheckout(page, onEthereum(net, '0.011'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  const answered = Promise.withResolvers<void>()
  ethereum.onApproval = () => answered.promise
  await signButton(page, 'MetaMask').click()
  await expect.poll(() => ethereum.requests.includes('eth_sendTransaction')).toBe(true)

  const second = await context.newPage()
  await openCheckout(second, onEthereum(net, '0.012'))
  await review(second, 'MetaMask')
  await signButton(second, 'MetaMask').click()
  await expect(
    second
      .getByRole('alert')
      .filter({ hasText: text('{wallet} is busy in another tab', { wallet: 'MetaMask' }) }),
  ).toContainText(text('Nothing was sent.'))
  await expectAccessible(second, 'checkout: asking in another tab')
  expect(ethereum.requests.filter((method) => method === 'eth_sendTransaction')).toHaveLength(1)

  answered.resolve()
  await expectPaid(page)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('an account that is chosen among several pays, though the wallet names another one first', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  ethereum.showsAll = true
  await openCheckout(page, onEthereum(net, '0.0114'))
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  const dialog = page.getByRole('dialog')
  const metaMask = { wallet: 'MetaMask', network: 'Ethereum' }
  await dialog
    .getByRole('button', { name: text('Connect {wallet} on {network}', metaMask) })
    .click()
  await expect(dialog.getByText(text('Which account?'))).toBeVisible()
  await dialog.getByRole('button', { name: ethereum.address }).click()
  await expect(dialog).toBeHidden()
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('the same payment in two tabs: the second one is warned of the first before its wallet is asked', async ({
  net,
  chains,
  buyer,
}) => {
  const { context, page, ethereum } = await buyer({ ether: '1' })
  await openCheckout(page, onEthereum(net, '0.0113'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  const second = await context.newPage()
  await openCheckout(second, onEthereum(net, '0.0113'))
  await review(second, 'MetaMask')
  const answered = Promise.withResolvers<void>()
  ethereum.onApproval = () => answered.promise
  const asked = () => ethereum.requests.filter((method) => method === 'eth_sendTransaction').length
  await signButton(page, 'MetaMask').click()
  await expect.poll(asked).toBe(1)
  await signButton(second, 'MetaMask').click()
  await expect(second.getByText(text('Answer it, then try again.'))).toBeVisible()

  answered.resolve()
  await expectPaid(page)
  await signButton(second, 'MetaMask').click()
  const warning = second.getByRole('note').filter({ hasText: text('I understand the risk') })
  await expect(warning).toContainText(text('A payment like this already exists.'))
  await expect(signButton(second, 'MetaMask')).toBeDisabled()
  await expect(second.getByText(text('Tick each warning.')).last()).toBeVisible()
  expect(asked()).toBe(1)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

function wallets(page: Page) {
  return page.getByRole('banner').getByRole('button', { name: textLike('Wallets: {connected}') })
}

function ending(address: string): string {
  return address.slice(-4)
}

/** A wallet that comes to the page at this moment. */
async function announce(page: Page, name: string, rdns: string): Promise<void> {
  await page.evaluate(
    ([label, id, uuid]) => {
      const provider = {
        request: () => Promise.reject(new Error('asked')),
        on: () => {},
        removeListener: () => {},
      }
      const info = { uuid, name: label, rdns: id, icon: 'data:image/svg+xml,' }
      window.dispatchEvent(
        new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }),
      )
    },
    [name, rdns, randomUuid()] as const,
  )
}
