import type { Page } from '@playwright/test'
import { connect, expectReviewed, signButton } from './checkout.ts'
import { expect, type Person } from './fixtures.ts'
import { text } from './text.ts'

/** How a person of the stories asks for articles of the local shop, and buys them. */

/** Browsers tell of every 402 on their consoles. */
export const REFUSED = /status of 402/

/** What the offer says whose transaction the seller sends. */
export const SELLER_SENDS = text('One transaction. You pay the network fee in {symbol}.', {
  symbol: 'SOL',
})

export const ARTICLES = {
  eth: '/articles/settlement-without-banks',
  sol: '/articles/the-price-of-finality',
  usdc: '/articles/reading-a-402',
}

export async function requestArticle(page: Page, url: string, via?: 'relay'): Promise<void> {
  await page.goto('/explore')
  await page.getByLabel(text('URL')).fill(url)
  if (via === 'relay') {
    await page.getByText(text('Headers, body, routing')).click()
    await page.getByText(text('Through the relay'), { exact: true }).click()
  }
  await page.getByRole('button', { name: text('Request'), exact: true }).click()
}

/** The offer in a currency, once the reader's balance is there. */
export function paymentOptionIn(page: Page, symbol: string) {
  return page
    .getByRole('listitem')
    .filter({ hasText: symbol })
    .filter({ has: page.getByRole('button', { name: text('Review and pay') }) })
}

export async function expectServed(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { name: text('Your purchase') })).toBeVisible({
    timeout: 45_000,
  })
}

/** What screen readers are told from now on, on every page that is opened. */
export async function recordAnnouncements(page: Page): Promise<string[]> {
  const announced: string[] = []
  await page.exposeFunction('onAnnouncement', (words: string) => announced.push(words.trim()))
  await page.addInitScript(() => {
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const element = target instanceof Element ? target : target.parentElement
        const words = element?.closest('[data-live-region]')?.textContent
        if (words) (Reflect.get(globalThis, 'onAnnouncement') as (words: string) => void)(words)
      }
    }).observe(document, { subtree: true, childList: true, characterData: true })
  })
  return announced
}

/** Pays for the article in SOL, through the relay where asked, up to the answer. */
export async function buyArticle({ page }: Person, url: string, via?: 'relay'): Promise<void> {
  await requestArticle(page, url, via)
  await payForArticle(page)
}

export async function payForArticle(page: Page): Promise<void> {
  await connect(page, 'Phantom')
  await paymentOptionIn(page, '0.1')
    .filter({ hasText: SELLER_SENDS })
    .getByRole('button', { name: text('Review and pay') })
    .click()
  await expectReviewed(page, 'Phantom')
  await signButton(page, 'Phantom').click()
}
