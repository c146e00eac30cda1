import type { Page } from '@playwright/test'
import type { Devnet } from '#devnet/network.ts'
import { expectPaid, expectReviewed, signButton } from './checkout.ts'

type Scene = (page: Page, net: Devnet) => Promise<void>

const ORDER = '/pay?amount=0.01&description=The+price+of+finality&reference=ORD-2001'

/** Every page and main state of the dashboard, each from a browser that has seen nothing. */
export const scenes: Readonly<Record<string, Scene>> = {
  welcome: async (page) => {
    await page.goto('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
  },
  connect: async (page) => {
    await page.goto('/')
    await page.getByRole('banner').getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('dialog').getByRole('button').first().waitFor()
  },
  details: async (page) => {
    await page.goto(ORDER)
    await page.getByRole('button', { name: 'Connect a wallet to pay' }).waitFor()
  },
  review,
  paid: async (page) => {
    await review(page)
    await signButton(page, 'Demo wallet').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await expectPaid(page)
    await page.getByRole('heading', { name: 'Paid, for good' }).waitFor({ timeout: 60_000 })
  },
  payment: async (page, net) => {
    await scenes['paid']?.(page, net)
    await page.getByRole('link', { name: 'Show the payment' }).click()
    await page.getByText('The chain shows this payment exactly').waitFor()
  },
  overview: async (page) => {
    await signIn(page)
    await page.goto('/')
    await page.getByRole('heading', { name: 'Latest payments' }).waitFor()
  },
  payments: async (page) => {
    await signIn(page)
    await page.goto('/payments')
    await page.getByRole('table', { name: /Payments/ }).waitFor()
  },
  'payments-none-found': async (page) => {
    await signIn(page)
    await page.goto('/payments?q=nothing-like-this')
    await page
      .getByText(/No payment/)
      .first()
      .waitFor()
  },
  links: async (page) => {
    await signIn(page)
    await page.goto('/links')
    await page.getByRole('heading', { level: 1 }).waitFor()
  },
  developers: async (page) => {
    await signIn(page)
    await page.goto('/developers')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
  },
  verify: async (page) => {
    await page.goto('/verify')
    await page.getByLabel('What do you want to check?').waitFor()
  },
  explore: async (page) => {
    await page.goto('/explore')
    await page.getByLabel('Address of the resource').waitFor()
  },
  'explore-priced': async (page, net) => {
    await page.goto('/explore')
    await page.getByLabel('Address of the resource').fill(`${net.urls.seller}/articles/settlement-without-banks`)
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByRole('heading', { name: 'This costs something' }).waitFor()
  },
  settings: async (page) => {
    await signIn(page)
    await page.goto('/settings')
    await page.getByRole('button', { name: 'Test', exact: true }).first().click()
    await page.getByText('The right chain, and it answers').waitFor()
  },
  'not-found': async (page) => {
    await page.goto('/nowhere')
    await page.getByRole('heading', { level: 1 }).waitFor()
  },
}

/** Buys from the demo seller, whose address the form proposes, up to the moment before the wallet opens. */
async function review(page: Page): Promise<void> {
  await page.goto(ORDER)
  await page.getByRole('button', { name: 'Connect a wallet to pay' }).click()
  await connectDemo(page, /Buyer/)
  await page.getByRole('button', { name: 'Review payment' }).click()
  await expectReviewed(page, 'Demo wallet')
}

async function signIn(page: Page): Promise<void> {
  await page.goto('/')
  await page.getByRole('banner').getByRole('button', { name: 'Connect', exact: true }).click()
  await connectDemo(page, /Seller/)
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Sign in as/ })
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign' }).click()
  await page.getByRole('heading', { name: 'Latest payments' }).waitFor()
}

async function connectDemo(page: Page, account: RegExp): Promise<void> {
  await page.getByRole('button', { name: 'Connect Demo wallet on Ethereum' }).click()
  const sheet = page.getByRole('dialog', { name: 'Connect this page?' })
  await sheet.getByRole('radio', { name: account }).check()
  await sheet.getByRole('button', { name: 'Connect' }).click()
}
