import { expect, type Page } from '@playwright/test'
import type { Hex } from 'viem'
import type { Devnet } from '#devnet/network.ts'
import { encodeHeader } from '#x402/header.ts'
import { pauseMining, openChains } from './chain.ts'
import {
  connectOnForm,
  connectOnLink,
  expectPaid,
  expectReviewed,
  review as reviewIn,
  signButton,
} from './checkout.ts'
import { createLinkByApi, signInByApi } from './seller.ts'
import { oneOf, text, textLike } from './text.ts'
import { EthereumWallet } from './wallets/ethereum.ts'

type Scene = (page: Page, net: Devnet) => Promise<void>

/** Of a test network; nobody's money hangs on it. */
const PROOF = encodeHeader({
  x402Version: 2,
  resource: { url: 'https://journal.example/articles/settlement-without-banks' },
  accepted: {
    scheme: 'exact',
    network: 'eip155:84532',
    amount: '1500000',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    maxTimeoutSeconds: 900,
    extra: { name: 'USDC', version: '2' },
  },
  payload: {
    signature: `0x${'5a'.repeat(64)}1b`,
    authorization: {
      from: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      value: '1500000',
      validAfter: '0',
      validBefore: '1795000000',
      nonce: `0x${'c4'.repeat(32)}`,
    },
  },
})

const ORDER = '/pay?amount=0.01&description=The+price+of+finality&reference=ORD-2001'

/** Every page and main state of the dashboard, each from a browser that has seen nothing. */
export const scenes: Readonly<Record<string, Scene>> = {
  welcome: async (page) => {
    await page.goto('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
  },
  connect: async (page) => {
    await page.goto('/')
    await page
      .getByRole('banner')
      .getByRole('button', { name: text('Connect'), exact: true })
      .click()
    await page.getByRole('dialog').getByRole('button').first().waitFor()
  },
  details: async (page) => {
    await page.goto(ORDER)
    await page.getByRole('button', { name: text('Connect a wallet to pay') }).waitFor()
  },
  review,
  paid: async (page) => {
    await review(page)
    await signButton(page, 'Demo wallet').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await expectPaid(page)
    await page.getByText(text('Finalized')).waitFor({ timeout: 60_000 })
  },
  payment: async (page, net) => {
    await scenes['paid']?.(page, net)
    await page.getByRole('link', { name: text('Show the payment') }).click()
    await page.getByText(text('Matches the service’s record.')).waitFor()
  },
  'payment-on-its-way': async (page, net) => {
    await review(page)
    await using chain = await pauseMining(openChains(net))
    await signButton(page, 'Demo wallet').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('link', { name: text('Show the payment') }).click({ timeout: 60_000 })
    await page
      .getByText(text('Sent. Waiting for confirmation.'), {
        exact: true,
      })
      .waitFor()
    await chain.mine()
    await page
      .getByText(
        text('{counted} of {needed} confirmations. Not paid yet.', { counted: '1', needed: '2' }),
        { exact: true },
      )
      .waitFor()
  },
  'paid-unconfirmed': async (page, net) => {
    const wallet = await installWallet(page, net)
    wallet.fees = 'replace'
    await page.goto(ORDER)
    await connectOnForm(page, 'MetaMask')
    await reviewIn(page, 'MetaMask')
    await signButton(page, 'MetaMask').click()
    await page
      .getByRole('button', { name: text('Confirm with {walletName}', { walletName: 'MetaMask' }) })
      .waitFor({ timeout: 60_000 })
  },
  unmatched: async (page, net) => {
    await scenes['paid-unconfirmed']?.(
      (await (await page.context().browser()?.newContext({ baseURL: net.urls.web }))?.newPage()) ??
        page,
      net,
    )
    await signIn(page)
    await page.goto('/?show=unmatched')
    await page
      .getByRole('button', { name: text('Assign') })
      .first()
      .waitFor({ timeout: 60_000 })
  },
  'payments-incomplete': async (page) => {
    await signIn(page)
    await page.goto('/payments?status=incomplete')
    await page
      .getByText(/Incomplete|No payment/)
      .first()
      .waitFor()
  },
  'payment-failed': (page) => openFirst(page, 'failed'),
  'payment-expired': (page) => openFirst(page, 'expired'),
  'payment-unknown': async (page) => {
    await signIn(page)
    await page.goto('/payments/pay_1111111111111111111111')
    await page.getByText(text('Payment not found')).waitFor()
  },
  overview: async (page) => {
    await signIn(page)
    await page.goto('/')
    await page.getByRole('heading', { name: text('Latest payments') }).waitFor()
  },
  payments: async (page) => {
    await signIn(page)
    await page.goto('/payments')
    await page.getByRole('table', { name: textLike('Payments') }).waitFor()
  },
  export: async (page) => {
    await signIn(page)
    await page.goto('/payments')
    await page.getByRole('table', { name: textLike('Payments') }).waitFor()
    await page.getByRole('button', { name: text('Export'), exact: true }).click()
    await page.getByText('hledger', { exact: true }).click()
  },
  'payments-none-found': async (page) => {
    await signIn(page)
    await page.goto('/payments?q=nothing-like-this')
    await page
      .getByText(oneOf(['No payments yet', 'No payments match']))
      .first()
      .waitFor()
  },
  links: async (page) => {
    await signIn(page)
    await page.goto('/links')
    await page.getByRole('heading', { level: 1 }).waitFor()
  },
  'link-to-share': async (page) => void (await makeLink(page)),
  'link-to-pay': async (page, net) => {
    await openLink(page, net)
  },
  'link-wallets': async (page, net) => {
    await openLink(page, net)
    await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
    await page.getByRole('dialog').getByRole('button').first().waitFor()
  },
  'link-review': linkReview,
  'link-details': async (page, net) => {
    await linkReview(page, net)
    await expectReviewed(page, 'Demo wallet')
  },
  'link-in-wallet': async (page, net) => {
    const wallet = await installWallet(page, net)
    wallet.signing = 'hang'
    await openLink(page, net)
    await connectOnLink(page, 'MetaMask')
    await signButton(page, 'MetaMask').click()
    await page.getByText(text('Nothing happening?')).waitFor({ timeout: 20_000 })
  },
  'link-answer-lost': async (page, net) => {
    const wallet = await installWallet(page, net)
    wallet.exactNonce = true
    wallet.signing = 'hang'
    await openLink(page, net)
    await connectOnLink(page, 'MetaMask')
    await signButton(page, 'MetaMask').click()
    await page
      .getByRole('heading', { name: text('Approve in {walletName}', { walletName: 'MetaMask' }) })
      .waitFor()
    await page.reload()
    await page.getByRole('button', { name: text('Try again with the same nonce') }).waitFor()
  },
  'link-waiting': async (page, net) => {
    await linkReview(page, net)
    await using _ = await pauseMining(openChains(net))
    await approveDemo(page)
    await page.getByRole('heading', { name: oneOf(['Sent', 'On its way']) }).waitFor()
  },
  'link-paid': async (page, net) => {
    await linkReview(page, net)
    await approveDemo(page)
    await expectPaid(page)
    await page.getByText(text('Finalized')).waitFor({ timeout: 60_000 })
  },
  'link-rejected': async (page, net) => {
    const wallet = await installWallet(page, net)
    wallet.signing = 'reject'
    await openLink(page, net)
    await connectOnLink(page, 'MetaMask')
    await signButton(page, 'MetaMask').click()
    await page.getByRole('alert').first().waitFor()
  },
  'link-out-of-time': async (page, net) => {
    await linkReview(page, net)
    await page.getByRole('button', { name: text('Prepare it again') }).waitFor({ timeout: 120_000 })
  },
  'link-expired': async (page, net) => {
    const link = await createLink(page, net, { expiresAt: Date.now() + 2_000 })
    await expect(async () => {
      await page.goto(link)
      await page.getByRole('alert').waitFor({ timeout: 2_000 })
    }).toPass({ timeout: 30_000 })
  },
  'link-altered': async (page, net) => {
    const link = await createLink(page, net)
    await page.goto(`${link.slice(0, -4)}AAAA`)
    await page.getByRole('alert').waitFor()
  },
  'link-failed': async (page, net) => {
    const wallet = await installWallet(page, net)
    wallet.mutate = (call) => ({ ...call, value: call.value / 2n })
    await openLink(page, net)
    await connectOnLink(page, 'MetaMask')
    await signButton(page, 'MetaMask').click()
    await page.getByRole('heading', { name: text('Something else landed') }).waitFor({
      timeout: 90_000,
    })
  },
  developers: async (page) => {
    await signIn(page)
    await page.goto('/developers')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
  },
  verify: async (page) => {
    await page.goto('/verify')
    await page.getByLabel(text('Payment to check')).waitFor()
  },
  'verify-explained': async (page) => {
    await page.goto('/verify')
    await page.getByLabel(text('Payment to check')).fill(PROOF)
    await page.getByRole('heading', { name: text('Proof') }).waitFor()
  },
  explore: async (page) => {
    await page.goto('/explore')
    await page.getByLabel(text('URL')).waitFor()
  },
  'explore-priced': async (page, net) => {
    await page.goto('/explore')
    await page.getByLabel(text('URL')).fill(`${net.urls.seller}/articles/settlement-without-banks`)
    await page.getByRole('button', { name: text('Request'), exact: true }).click()
    await page.getByRole('heading', { name: text('Payment required') }).waitFor()
  },
  'explore-paid': async (page, net) => {
    await installWallet(page, net)
    await scenes['explore-priced']?.(page, net)
    await page
      .getByRole('button', { name: text('Connect to pay') })
      .first()
      .click()
    await page
      .getByRole('button', {
        name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
      })
      .click()
    await signButton(page, 'MetaMask').click({ timeout: 60_000 })
    await page.getByRole('heading', { name: text('Your purchase') }).waitFor({ timeout: 60_000 })
  },
  settings: async (page) => {
    await signIn(page)
    await page.goto('/settings')
    await page
      .getByRole('button', { name: text('Test'), exact: true })
      .first()
      .click()
    await page.getByText(text('Right network, reachable')).waitFor()
  },
  'not-found': async (page) => {
    await page.goto('/nowhere')
    await page.getByRole('heading', { level: 1 }).waitFor()
  },
}

/** Buys from the demo seller, whose address the form proposes, up to the moment before the wallet opens. */
async function review(page: Page): Promise<void> {
  await page.goto(ORDER)
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await connectDemo(page, /Buyer/)
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expectReviewed(page, 'Demo wallet')
}

async function installWallet(page: Page, net: Devnet): Promise<EthereumWallet> {
  const wallet = walletOf(net, net.wallets.buyer.evm.privateKey)
  await wallet.install(page.context())
  return wallet
}

function walletOf({ evm: { rpcUrl, chainId } }: Devnet, privateKey: Hex): EthereumWallet {
  return new EthereumWallet({ privateKeys: [privateKey], rpcUrl, chainId })
}

async function openLink(page: Page, net: Devnet): Promise<void> {
  await page.goto(await createLink(page, net))
  await page.getByText(textLike('Request from <0>{setBy}</0>, verified')).waitFor()
}

/** The payment of a link up to the moment before the wallet opens. */
async function linkReview(page: Page, net: Devnet): Promise<void> {
  await openLink(page, net)
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await connectDemo(page, /Buyer/)
  await page.getByText(textLike('expires in {left}')).waitFor()
  await page.getByText(text('Decoded in this browser, simulating on your RPC endpoint,')).waitFor({
    state: 'detached',
  })
}

async function approveDemo(page: Page): Promise<void> {
  await signButton(page, 'Demo wallet').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
}

/** Made by the seller in another browser. */
async function createLink(
  page: Page,
  net: Devnet,
  terms: { expiresAt?: number } = {},
): Promise<string> {
  const context = await page.context().browser()?.newContext({ baseURL: net.urls.web })
  if (!context) throw new Error('The page has no browser.')
  const ethereum = walletOf(net, net.wallets.seller.evm.privateKey)
  const shop = await signInByApi({ page: await context.newPage(), ethereum }, net, '/links')
  const link = await createLinkByApi(shop, net, {
    amount: 0.02,
    description: 'Quarterly issue, autumn',
    reference: 'INV-2026-114',
    returnUrl: 'https://shop.example/thanks',
    ...terms,
  })
  await context.close()
  return link
}

async function openFirst(page: Page, status: string): Promise<void> {
  await signIn(page)
  await page.goto(`/payments?status=${status}`)
  await page.locator('[data-payment-row]').first().getByRole('link').click()
  await page.getByRole('heading', { name: text('What happened') }).waitFor()
}

/** The seller's, with its code still in view. */
async function makeLink(page: Page): Promise<string> {
  await signIn(page)
  await page.goto('/links')
  await page.getByRole('button', { name: text('New link') }).click()
  const dialog = page.getByRole('dialog', { name: text('New payment link') })
  await dialog.getByLabel(text('Amount')).fill('0.02')
  await dialog.getByLabel(text('Description')).fill('Quarterly issue, autumn')
  await dialog.getByLabel(text('Reference')).fill('INV-2026-114')
  await dialog.getByRole('button', { name: text('Make the link') }).click()
  const share = page.getByRole('dialog', { name: text('Share payment link') })
  await share.getByRole('img', { name: textLike('Code for {0}') }).waitFor()
  return share.getByText(/^https?:\/\//).innerText()
}

async function signIn(page: Page): Promise<void> {
  await page.goto('/')
  await page
    .getByRole('banner')
    .getByRole('button', { name: text('Connect'), exact: true })
    .click()
  await connectDemo(page, /Seller/)
  await page
    .getByRole('main')
    .getByRole('button', { name: textLike('Sign in as {address}') })
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign' }).click()
  await page.getByRole('heading', { name: text('Latest payments') }).waitFor()
}

async function connectDemo(page: Page, account: RegExp): Promise<void> {
  await page
    .getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'Demo wallet', network: 'Ethereum' }),
    })
    .click()
  const sheet = page.getByRole('dialog', { name: 'Connect this page?' })
  await sheet.getByRole('radio', { name: account }).check()
  await sheet.getByRole('button', { name: text('Connect') }).click()
}
