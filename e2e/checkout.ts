import { expect, type Page } from '@playwright/test'
import { oneOf, text } from './text.ts'

/** What a person does on the checkout, in their words. Locators are roles and labels only. */

export type CheckoutRequest = {
  network: string
  to: string
  amount: string
  description?: string
}
/** The tests' own wallets; the devnet's demo wallet is asked through its sheet. */
export type WalletName = 'MetaMask' | 'Phantom'

const FAMILIES = { MetaMask: 'Ethereum', Phantom: 'Solana' } as const

/** Opens the checkout with its fields prefilled from the URL, as a seller's link does. */
export async function openCheckout(page: Page, asked: CheckoutRequest): Promise<void> {
  await page.goto(`/pay?${new URLSearchParams(asked).toString()}`)
  await expect(page.getByLabel(text('Amount'))).toHaveValue(asked.amount)
  await expect(page.getByLabel(text('To'), { exact: true })).toHaveValue(asked.to)
}

/** From the form's button when no wallet is connected yet. */
export async function connectOnForm(page: Page, wallet: WalletName): Promise<void> {
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await chooseWallet(page, wallet)
  await expect(page.getByRole('button', { name: text('Review payment') })).toBeVisible()
}

/** From a payment link's button: the flow continues to the review by itself. */
export async function connectOnLink(page: Page, wallet: WalletName): Promise<void> {
  await page.getByRole('button', { name: text('Connect a wallet to pay') }).click()
  await chooseWallet(page, wallet)
  await expectReviewed(page, wallet)
}

/** From the page's header. */
export async function connect(page: Page, wallet: WalletName): Promise<void> {
  await page
    .getByRole('banner')
    .getByRole('button', { name: text('Connect'), exact: true })
    .click()
  await chooseWallet(page, wallet)
}

async function chooseWallet(page: Page, wallet: WalletName): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog
    .getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet, network: FAMILIES[wallet] }),
    })
    .click()
  await expect(dialog).toBeHidden()
}

/** Submits the form and waits until everything about the transaction was compared and simulated. */
export async function review(page: Page, wallet: WalletName): Promise<void> {
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expectReviewed(page, wallet)
}

export async function expectReviewed(
  page: Page,
  wallet: WalletName | 'Demo wallet',
): Promise<void> {
  await expect(
    page.getByRole('heading', {
      name: oneOf(['Review and pay', 'Check and sign', 'Review refund']),
    }),
  ).toBeVisible()
  await openDetails(page)
  await expect(page.getByText(text('All equal'))).toBeVisible()
  await expect(page.getByText(text('Passed'), { exact: true })).toBeVisible()
  await expect(signButton(page, wallet)).toBeEnabled()
}

/** Unfolds, by keyboard, what the review shows in full. */
export async function openDetails(page: Page): Promise<void> {
  const details = page.getByRole('group', { name: text('Details'), exact: true })
  const isOpen = await details.evaluate((element) => element.hasAttribute('open'))
  if (!isOpen) await details.locator('summary').first().press('Enter')
}

export function signButton(page: Page, wallet: WalletName | 'Demo wallet') {
  const amount = '\\d[\\d.,]* \\S+'
  const [pay, refund] = [text('Pay {amount}', { amount }), text('Refund {amount}', { amount })]
  const sign = text('Sign with {walletName}', { walletName: wallet })
  return page.getByRole('button', { name: new RegExp(`^(${pay}|${refund}|${sign})$`) })
}

/** Signs what was reviewed. What became too old meanwhile is prepared again first, as a person would. */
export async function sign(page: Page, wallet: WalletName): Promise<void> {
  const again = page.getByRole('button', { name: text('Prepare it again') })
  if (await again.isVisible()) {
    await again.click()
    await expect(again).toHaveCount(0)
    await expectReviewed(page, wallet)
  }
  await signButton(page, wallet).click()
}

/** The page says that a payment is complete only after its own RPC showed the transfer. */
export async function expectPaid(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { name: text('Payment complete') })).toBeVisible({
    timeout: 30_000,
  })
}

/** The whole flow from the checkout link to the receipt. */
export async function pay(page: Page, wallet: WalletName, asked: CheckoutRequest): Promise<void> {
  await openCheckout(page, asked)
  await connectOnForm(page, wallet)
  await review(page, wallet)
  await signButton(page, wallet).click()
  await expectPaid(page)
}

/** Of a short link: the first option whose text has this part. */
export async function chooseCurrency(page: Page, symbol: string): Promise<void> {
  const select = page.getByLabel(text('Currency'))
  const option = select.getByRole('option').filter({ hasText: symbol }).first()
  await select.selectOption((await option.getAttribute('value')) ?? '')
}
