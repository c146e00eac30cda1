import type { Page } from '@playwright/test'
import type { Devnet } from '#devnet/network.ts'
import { encodeHeader } from '#x402/header.ts'
import { pauseMining, openChains } from './chain.ts'
import {
  connectOnForm,
  expectPaid,
  expectReviewed,
  review as reviewIn,
  signButton,
} from './checkout.ts'
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
    await page
      .getByRole('heading', { name: text('Paid and finalized') })
      .waitFor({ timeout: 60_000 })
  },
  payment: async (page, net) => {
    await scenes['paid']?.(page, net)
    await page.getByRole('link', { name: text('Show the payment') }).click()
    await page
      .getByText(text('The chain shows this payment exactly as the service recorded it.'))
      .waitFor()
  },
  'payment-on-its-way': async (page, net) => {
    await review(page)
    await using chain = await pauseMining(openChains(net))
    await signButton(page, 'Demo wallet').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('link', { name: text('Show the payment') }).click({ timeout: 60_000 })
    await page
      .getByText(text('Sent to the network. It does not count as paid until it is confirmed.'), {
        exact: true,
      })
      .waitFor()
    await chain.mine()
    await page
      .getByText(
        text(
          'On the chain with {counted} of {needed} confirmations. It does not count as paid yet.',
          { counted: '1', needed: '2' },
        ),
        { exact: true },
      )
      .waitFor()
  },
  'paid-unconfirmed': async (page, net) => {
    const wallet = new EthereumWallet({
      privateKeys: [net.wallets.buyer.evm.privateKey],
      rpcUrl: net.evm.rpcUrl,
      chainId: net.evm.chainId,
    })
    wallet.fees = 'replace'
    await wallet.install(page.context())
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
    await page.getByText(text('No payment under this id')).waitFor()
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
  'payments-none-found': async (page) => {
    await signIn(page)
    await page.goto('/payments?q=nothing-like-this')
    await page
      .getByText(oneOf(['No payments yet', 'No payment matches']))
      .first()
      .waitFor()
  },
  links: async (page) => {
    await signIn(page)
    await page.goto('/links')
    await page.getByRole('heading', { level: 1 }).waitFor()
  },
  'link-to-share': async (page) => void (await makeLink(page)),
  'link-to-pay': async (page) => {
    await page.goto(await makeLink(page))
    await page
      .getByText(textLike('Set by <0>{setBy}</0>, signed. Nobody changed it since.'))
      .waitFor()
  },
  developers: async (page) => {
    await signIn(page)
    await page.goto('/developers')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
  },
  verify: async (page) => {
    await page.goto('/verify')
    await page.getByLabel(text('What do you want to check?')).waitFor()
  },
  'verify-explained': async (page) => {
    await page.goto('/verify')
    await page.getByLabel(text('What do you want to check?')).fill(PROOF)
    await page.getByRole('heading', { name: text('What the proof says') }).waitFor()
  },
  explore: async (page) => {
    await page.goto('/explore')
    await page.getByLabel(text('Address of the resource')).waitFor()
  },
  'explore-priced': async (page, net) => {
    await page.goto('/explore')
    await page
      .getByLabel(text('Address of the resource'))
      .fill(`${net.urls.seller}/articles/settlement-without-banks`)
    await page.getByRole('button', { name: text('Ask'), exact: true }).click()
    await page.getByRole('heading', { name: text('This costs something') }).waitFor()
  },
  settings: async (page) => {
    await signIn(page)
    await page.goto('/settings')
    await page
      .getByRole('button', { name: text('Test'), exact: true })
      .first()
      .click()
    await page.getByText(text('The right chain, and it answers')).waitFor()
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
  const share = page.getByRole('dialog', { name: text('Share this payment link') })
  await share
    .getByRole('img', { name: textLike('Code that opens the payment page at {0}') })
    .waitFor()
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
