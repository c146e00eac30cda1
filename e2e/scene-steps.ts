import { type Page } from '@playwright/test'
import type { Hex } from 'viem'
import type { Devnet } from '#devnet/network.ts'
import { connect, expectReviewed, signButton } from './checkout.ts'
import { createLinkByApi, createShortLinkByApi, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'
import { EthereumWallet } from './wallets/ethereum.ts'

/** A purchase from the demo seller. */
export const ORDER = '/pay?amount=0.01&description=The+price+of+finality&reference=ORD-2001'

/** Buys from the demo seller, whose address the form proposes, up to the moment before the wallet opens. */
export async function review(page: Page): Promise<void> {
  await page.goto(ORDER)
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await connectDemo(page, /Buyer/)
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expectReviewed(page, 'Demo wallet')
}

export async function installWallet(page: Page, net: Devnet): Promise<EthereumWallet> {
  const wallet = walletOf(net, net.wallets.buyer.evm.privateKey)
  await wallet.install(page.context())
  return wallet
}

function walletOf({ evm: { rpcUrl, chainId } }: Devnet, privateKey: Hex): EthereumWallet {
  return new EthereumWallet({ privateKeys: [privateKey], rpcUrl, chainId })
}

export async function openLink(page: Page, net: Devnet): Promise<void> {
  await page.goto(await createLink(page, net))
  await page.getByText(textLike('Request from <0>{setBy}</0>, verified')).waitFor()
}

/** The payment of a link up to the moment before the wallet opens. */
export async function linkReview(page: Page, net: Devnet): Promise<void> {
  await openLink(page, net)
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await connectDemo(page, /Buyer/)
  await page.getByText(textLike('Sign within {left}.')).waitFor()
  await page.getByText(text('Decoded in this browser, simulating.')).waitFor({
    state: 'detached',
  })
}

export async function shortReview(page: Page, net: Devnet): Promise<void> {
  await page.goto(await createShortLink(page, net))
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await connectDemo(page, /Buyer/)
  await page.getByText(textLike('Sign within {left}.')).waitFor()
  await page.getByText(text('Decoded in this browser, simulating.')).waitFor({
    state: 'detached',
  })
}

export async function approveDemo(page: Page): Promise<void> {
  await signButton(page, 'Demo wallet').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
}

/** Made by the seller in another browser. */
export async function createLink(
  page: Page,
  net: Devnet,
  terms: { expiresAt?: number } = {},
): Promise<string> {
  return inShop(page, net, (shop) =>
    createLinkByApi(shop, net, {
      amount: 0.02,
      description: 'Quarterly issue, autumn',
      reference: 'INV-2026-114',
      returnUrl: 'https://shop.example/thanks',
      ...terms,
    }),
  )
}

/** One that asks for everything a link can ask for. */
export function createShortLink(page: Page, net: Devnet): Promise<string> {
  return inShop(page, net, (shop) =>
    createShortLinkByApi(shop, net, {
      description: 'Quarterly issue, autumn',
      reference: 'INV-2026-115',
      returnUrl: 'https://shop.example/thanks',
      maxPieces: 5,
      askEmail: true,
    }),
  )
}

/** An invitation of a viewer. */
export function invite(page: Page, net: Devnet): Promise<string> {
  return inShop(page, net, async (shop) => {
    await shop.goto('/people')
    await connect(shop, 'MetaMask')
    await shop.getByRole('button', { name: text('Invite') }).click()
    const dialog = shop.getByRole('dialog')
    await dialog.getByRole('button', { name: text('Create invitation link') }).click()
    await dialog
      .getByRole('button', { name: text('Sign with {walletName}', { walletName: 'MetaMask' }) })
      .click()
    return (await dialog.getByLabel(text('Invitation link')).innerText()).trim()
  })
}

async function inShop(
  page: Page,
  net: Devnet,
  act: (shop: Page) => Promise<string>,
): Promise<string> {
  const context = await page.context().browser()?.newContext({ baseURL: net.urls.web })
  if (!context) throw new Error('The page has no browser.')
  const ethereum = walletOf(net, net.wallets.seller.evm.privateKey)
  await ethereum.install(context)
  const shop = await signInByApi({ page: await context.newPage(), ethereum }, net, '/links')
  const link = await act(shop)
  await context.close()
  return link
}

export async function openFirst(page: Page, status: string): Promise<void> {
  await signIn(page)
  await page.goto(`/payments?status=${status}`)
  await page.locator('[data-payment-row]').first().getByRole('link').first().click()
  await page.getByRole('heading', { name: text('What happened') }).waitFor()
}

/** The seller's, with its code still in view. */
export async function makeLink(page: Page): Promise<string> {
  await signIn(page)
  await page.goto('/links')
  await page.getByRole('button', { name: text('New link') }).click()
  const dialog = page.getByRole('dialog', { name: text('New link') })
  await dialog.getByLabel(text('Amount')).fill('0.02')
  await dialog.getByLabel(text('Description')).fill('Quarterly issue, autumn')
  await dialog.getByLabel(text('Reference')).fill('INV-2026-114')
  await dialog.getByRole('button', { name: text('Create link') }).click()
  const share = page.getByRole('dialog', { name: text('Share') })
  await share.getByRole('img', { name: textLike('Code for {0}') }).waitFor()
  return share.getByText(/^https?:\/\//).innerText()
}

export async function signIn(page: Page): Promise<void> {
  await page.goto('/')
  await signInHere(page, /Seller/)
  await page.getByRole('heading', { name: text('Latest payments') }).waitFor()
}

/** On a page that asks for it. */
export async function signInHere(page: Page, account: RegExp): Promise<void> {
  await page
    .getByRole('banner')
    .getByRole('button', { name: text('Connect'), exact: true })
    .click()
  await connectDemo(page, account)
  await page
    .getByRole('main')
    .getByRole('button', { name: textLike('Sign in as {address}') })
    .click()
  await signDemo(page)
}

/** Signs words, or a payment, in the demo wallet. */
export async function signDemo(page: Page): Promise<void> {
  const sheet = page.getByRole('dialog', { name: /^Sign this (message|payment)\?$/ })
  await sheet.getByRole('button', { name: /^(Sign|Approve)$/ }).click()
}

/** The review of a payment from a managed wallet. */
export async function managedReview(page: Page, net: Devnet): Promise<void> {
  await signIn(page)
  await page.goto('/pay')
  await page.getByText(text('Managed wallet'), { exact: true }).click()
  await page.getByLabel(text('To'), { exact: true }).fill(net.wallets.buyer.evm.address)
  await page.getByLabel(text('Amount')).fill('0.02')
  await page.getByLabel(text('Description')).fill('Rent, December')
  await page.getByRole('button', { name: text('Review payment') }).click()
  await page.getByRole('heading', { name: text('Check and sign') }).waitFor()
}

export async function signManaged(page: Page): Promise<void> {
  await page
    .getByRole('button', {
      name: text('Sign and pay with {walletName}', { walletName: 'Demo wallet' }),
    })
    .click()
  await signDemo(page)
}

/** Does something as another person, in a browser that stays open. */
export async function elsewhere(page: Page, net: Devnet): Promise<Page> {
  const context = await page.context().browser()?.newContext({ baseURL: net.urls.web })
  if (!context) throw new Error('The page has no browser.')
  return context.newPage()
}

export async function connectDemo(page: Page, account: RegExp): Promise<void> {
  await page
    .getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'Demo wallet', network: 'Ethereum' }),
    })
    .click()
  const sheet = page.getByRole('dialog', { name: 'Connect this page?' })
  await sheet.getByRole('radio', { name: account }).check()
  await sheet.getByRole('button', { name: text('Connect') }).click()
}
