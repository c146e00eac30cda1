import { expect, type Page } from '@playwright/test'
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
import { ELSEWHERE, settleUntold } from './proofs.ts'
import { oneOf, text, textLike } from './text.ts'
import {
  ORDER,
  approveDemo,
  connectDemo,
  createLink,
  createShortLink,
  elsewhere,
  installWallet,
  invite,
  linkReview,
  makeLink,
  managedReview,
  openFirst,
  openLink,
  review,
  shortReview,
  signDemo,
  signIn,
  signInHere,
  signManaged,
} from './scene-steps.ts'

type Scene = (page: Page, net: Devnet) => Promise<void>

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
    await page.getByText(text('Finalized')).first().waitFor({ timeout: 60_000 })
  },
  payment: async (page, net) => {
    await scenes['paid']?.(page, net)
    await page.getByRole('link', { name: text('Show the payment') }).click()
    const final = page.getByText(text('The payment is final.'), { exact: true })
    await final.waitFor({ timeout: 60_000 })
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
        text('Unconfirmed: {counted} of {needed} confirmations.', { counted: '1', needed: '2' }),
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
    await scenes['paid-unconfirmed']?.(await elsewhere(page, net), net)
    await signIn(page)
    await page.goto('/?show=unmatched')
    await page
      .getByRole('button', { name: text('Assign') })
      .first()
      .waitFor({ timeout: 60_000 })
  },
  undelivered: async (page, net) => {
    await settleUntold(net, openChains(net))
    await signIn(page)
    await page.goto('/?show=undelivered')
    await page
      .getByRole('button', { name: text('Mark as delivered') })
      .first()
      .waitFor({ timeout: 60_000 })
  },
  'refund-ask': async (page, net) => {
    await scenes['paid']?.(page, net)
    await page.getByRole('button', { name: text('Request a refund') }).click()
    await page.getByLabel(textLike('Reason')).fill('One cup is broken.')
  },
  'refund-requests': async (page, net) => {
    const receipt = await elsewhere(page, net)
    await scenes['refund-ask']?.(receipt, net)
    await receipt.getByRole('button', { name: text('Request refund') }).click()
    await signDemo(receipt)
    await receipt.getByText(text('Requested'), { exact: true }).waitFor()
    await signIn(page)
    await page.goto('/?show=refundRequests')
    await page.getByText('One cup is broken.').first().waitFor()
  },
  'refund-review': async (page, net) => {
    await scenes['refund-requests']?.(page, net)
    await page
      .getByRole('link', { name: text('Refund'), exact: true })
      .first()
      .click()
    await expectReviewed(page, 'Demo wallet')
  },
  managed: async (page) => {
    await signIn(page)
    await page.goto('/pay')
    await page.getByText(text('Managed wallet'), { exact: true }).click()
    await page.getByLabel(text('From the managed wallet')).waitFor()
    await page.getByText(textLike('Balance <0/>')).first().waitFor()
  },
  'managed-review': managedReview,
  'managed-sent': async (page, net) => {
    await managedReview(page, net)
    await signManaged(page)
    await page.getByRole('heading', { name: text('Payment sent') }).waitFor()
    await page.getByText(text('Finalized')).first().waitFor({ timeout: 60_000 })
  },
  'managed-lost': async (page, net) => {
    await managedReview(page, net)
    await page.route('**/api/hosted/send', (route) => route.abort())
    await signManaged(page)
    await page.getByRole('heading', { name: text('Checking whether it was sent') }).waitFor()
  },
  'managed-not-told': async (page, net) => {
    await managedReview(page, net)
    // As another operator in the same browser is answered.
    await page.route('**/api/hosted/send', (route) =>
      route.continue({ postData: { ...route.request().postDataJSON(), nonce: 'a'.repeat(32) } }),
    )
    await signManaged(page)
    await page.getByRole('heading', { name: text('It may have been sent') }).waitFor()
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
      .getByText(oneOf(['No payments yet', 'Nothing found']))
      .first()
      .waitFor()
  },
  'links-none': async (page) => {
    await signIn(page)
    await page.goto('/links')
    await page.getByRole('heading', { level: 1 }).waitFor()
  },
  links: async (page, net) => {
    await createShortLink(page, net)
    await createLink(page, net)
    await signIn(page)
    await page.goto('/links')
    await page.getByRole('listitem').filter({ hasText: '€12.50' }).first().waitFor()
  },
  'link-form': async (page) => {
    await signIn(page)
    await page.goto('/links')
    await page.getByRole('button', { name: text('New link') }).click()
    await page.getByRole('dialog', { name: text('New link') }).waitFor()
  },
  'short-choose': async (page, net) => {
    await page.goto(await createShortLink(page, net))
    await page.getByLabel(text('Currency')).waitFor()
  },
  'short-quantity-wrong': async (page, net) => {
    await page.goto(await createShortLink(page, net))
    await page.getByLabel(text('Quantity')).fill('20')
    await page.getByText(text('Enter 1 to {most}.', { most: '5' })).waitFor()
  },
  'short-price-expired': async (page, net) => {
    const link = await createShortLink(page, net)
    await page.clock.install()
    await page.goto(link)
    await page.getByLabel(text('Currency')).waitFor()
    await page.clock.fastForward('16:00')
    await page.getByRole('button', { name: text('Refresh price') }).waitFor()
  },
  'short-review': shortReview,
  'short-paid': async (page, net) => {
    await shortReview(page, net)
    await approveDemo(page)
    await expectPaid(page)
    await page.getByText(text('Finalized')).first().waitFor({ timeout: 60_000 })
  },
  'link-to-share': async (page) => void (await makeLink(page)),
  'link-to-pay': async (page, net) => {
    await openLink(page, net)
  },
  'link-code': async (page, net) => {
    await openLink(page, net)
    await page.getByRole('button', { name: text('Pay with a phone') }).click()
    await page.getByText(text('Wallet code'), { exact: true }).click()
    await page.getByLabel(text('Your paying address')).fill(net.wallets.buyer.evm.address)
    await page.getByRole('button', { name: text('Show the code') }).click()
    await page
      .getByRole('img', { name: textLike('Wallet code: pay {amount} to {recipient}') })
      .waitFor()
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
    await page.getByRole('button', { name: textLike('Ask {walletName} again') }).waitFor()
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
    await page.getByText(text('Finalized')).first().waitFor({ timeout: 60_000 })
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
    await page.getByRole('heading', { name: text('Another payment was confirmed') }).waitFor({
      timeout: 90_000,
    })
  },
  developers: async (page) => {
    await signIn(page)
    await page.goto('/developers')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
  },
  customers: async (page) => {
    await signIn(page)
    await page.goto('/customers')
    await page.getByRole('table').getByRole('link').first().waitFor()
    await page.waitForLoadState('networkidle')
  },
  customer: async (page, net) => {
    await scenes['customers']?.(page, net)
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByRole('heading', { name: text('Latest payments') }).waitFor()
    await page.waitForLoadState('networkidle')
  },
  files: async (page) => {
    await signIn(page)
    await page.goto('/files')
    await page.getByText(text('Buyers pay, then download.')).waitFor()
  },
  'files-new': async (page, net) => {
    await scenes['files']?.(page, net)
    await page.getByRole('button', { name: text('Sell a file') }).click()
    await page.getByText('HTTPS', { exact: true }).click()
  },
  'files-list': async (page) => {
    await signIn(page)
    await page.goto('/files')
    await page.getByRole('button', { name: text('Sell a file') }).click()
    const dialog = page.getByRole('dialog', { name: text('Sell a file') })
    await dialog.getByLabel(text('Name'), { exact: true }).fill('The guide')
    await dialog.getByLabel(text('Amount in {currency}', { currency: 'ETH' })).fill('0.01')
    await dialog.getByRole('textbox', { name: text('Text') }).fill('How to brew tea.')
    await dialog.getByRole('button', { name: text('Check source') }).click()
    await dialog.getByRole('status').waitFor()
    await dialog.getByRole('button', { name: text('Sell a file') }).click()
    await page.getByRole('listitem').filter({ hasText: 'The guide' }).first().waitFor()
  },
  file: async (page, net) => {
    const shop = await elsewhere(page, net)
    await scenes['files-list']?.(shop, net)
    const proxy = net.urls.bff.replace('127.0.0.1', 'localhost')
    const listed = await shop.request.get(`${proxy}/api/files`)
    const { files } = (await listed.json()) as { files: { url: string }[] }
    await page.goto(files[0]?.url ?? '')
    await page.getByRole('link', { name: textLike('Buy for {price}') }).waitFor()
  },
  balances: async (page) => {
    await signIn(page)
    await page.goto('/balances')
    await page.getByText(textLike('Block {0}, read <0/>')).nth(1).waitFor()
  },
  'balances-top-up': async (page, net) => {
    await scenes['balances']?.(page, net)
    await page
      .getByRole('link', { name: text('Top up') })
      .first()
      .click()
    await page.getByRole('dialog').getByRole('img').waitFor()
  },
  products: async (page) => {
    await signIn(page)
    await page.goto('/products')
    await page.getByRole('button', { name: text('New product') }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(text('Name')).fill('Winter tea')
    await dialog.getByLabel(text('Description')).fill('Black tea with orange, 100 g')
    await dialog.getByLabel(text('Price')).fill('12.50')
    await dialog.getByRole('button', { name: text('Save') }).click()
    await page.getByText('Winter tea').first().waitFor()
  },
  'invoice-new': async (page, net) => {
    await scenes['products']?.(page, net)
    await page.goto('/invoices')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: text('Seller details') }).click()
    await dialog.getByLabel(text('Name')).fill('Winter Tea Ltd')
    await dialog.getByLabel(text('Address')).fill('1 Quay\n1100 Porto')
    await dialog.getByLabel(text('Tax number')).fill('PT501234567')
    await dialog.getByRole('button', { name: text('Save') }).click()
    await page.getByRole('button', { name: text('New invoice') }).click()
    await dialog.getByRole('textbox', { name: text('Customer') }).fill('Ana Q.')
    await dialog.getByLabel(text('Address')).fill('2 Hill Street\n28001 Madrid')
    await dialog.getByLabel(text('Add a product')).selectOption({ index: 1 })
    await dialog.getByLabel(text('Tax rate')).fill('21')
  },
  invoice: async (page, net) => {
    await scenes['invoice-new']?.(page, net)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: text('Save draft') }).click()
    await page.getByRole('button', { name: text('Issue invoice') }).click()
    await dialog.getByRole('button', { name: text('Issue invoice') }).click()
    await page.getByText(text('Pay at')).waitFor()
  },
  invoices: async (page, net) => {
    await scenes['invoice']?.(page, net)
    await page.goto('/invoices')
    await page.getByRole('list', { name: text('Invoices') }).waitFor()
  },
  people: async (page) => {
    await signIn(page)
    await page.goto('/people')
    await page.getByRole('heading', { name: text('Audit log') }).waitFor()
    await page.waitForLoadState('networkidle')
  },
  'people-invite': async (page, net) => {
    await scenes['people']?.(page, net)
    await page.getByRole('button', { name: text('Invite') }).click()
    await page.getByRole('dialog').waitFor()
  },
  join: async (page, net) => {
    await page.goto(await invite(page, net))
    await page.getByText(textLike('Sign in to join {title}')).first().waitFor()
  },
  'join-accept': async (page, net) => {
    await scenes['join']?.(page, net)
    await signInHere(page, /Buyer/)
    await page.getByRole('button', { name: text('Accept invitation') }).waitFor()
  },
  'join-over': async (page) => {
    await page.goto(`/join#${'a'.repeat(43)}`)
    await page.getByText(text('Invitation no longer valid')).waitFor()
  },
  verify: async (page) => {
    await page.goto('/verify')
    await page.getByLabel(text('Payment to check')).waitFor()
  },
  'verify-explained': async (page) => {
    await page.goto('/verify')
    await page.getByLabel(text('Payment to check')).fill(encodeHeader(ELSEWHERE))
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
      .getByRole('button', { name: text('Connect a wallet to pay') })
      .first()
      .click()
    await page
      .getByRole('button', {
        name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
      })
      .click()
    await signButton(page, 'MetaMask').click({ timeout: 60_000 })
    await page.getByRole('heading', { name: text('Your purchase') }).waitFor({ timeout: 60_000 })
    await page.getByRole('heading', { name: 'Settlement without banks' }).waitFor()
  },
  'explore-undelivered': async (page, net) => {
    await installWallet(page, net)
    await page.goto('/explore')
    const article = `${net.urls.seller}/articles/settlement-without-banks`
    await page.getByLabel(text('URL')).fill(`${article}?demo=error-after-payment`)
    await page.getByRole('button', { name: text('Request'), exact: true }).click()
    await page
      .getByRole('button', { name: text('Connect a wallet to pay') })
      .first()
      .click()
    await page
      .getByRole('button', {
        name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
      })
      .click()
    await signButton(page, 'MetaMask').click({ timeout: 60_000 })
    await page
      .getByRole('heading', { name: text('Paid, not delivered') })
      .waitFor({ timeout: 60_000 })
  },
  'pay-undelivered': async (page, net) => {
    await scenes['explore-undelivered']?.(page, net)
    await page.goto(ORDER)
    await page
      .getByRole('note')
      .filter({ hasText: text('Paid, not delivered') })
      .waitFor()
  },
  'explore-signature': async (page, net) => {
    await page.goto('/explore')
    await page.getByLabel(text('URL')).fill(`${net.urls.seller}/articles/reading-a-402`)
    await page.getByRole('button', { name: text('Request'), exact: true }).click()
    await page
      .getByRole('button', { name: text('Connect a wallet to pay') })
      .first()
      .click()
    await connectDemo(page, /Buyer/)
    await expectReviewed(page, 'Demo wallet')
    await signButton(page, 'Demo wallet').click()
    await page.getByRole('dialog', { name: 'Sign this payment?' }).waitFor()
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
