import { expect, type Page } from '@playwright/test'
import * as v from 'valibot'
import type { Devnet } from '#devnet/network.ts'
import { connect } from './checkout.ts'
import type { Person } from './fixtures.ts'
import { textLike } from './text.ts'

const Config = v.object({ proxyUrl: v.string() })
const Challenge = v.object({ id: v.string(), message: v.string() })

/**
 * Opens a page as a signed-in person whose wallet is not connected: for stories that only read, where signing in is not what they are about.
 * The person signs the same challenge that the page would show.
 */
export async function signInByApi(
  { page, ethereum }: Pick<Person, 'page' | 'ethereum'>,
  net: Pick<Devnet, 'evm' | 'urls'>,
  path = '/payments',
): Promise<Page> {
  const { request } = page.context()
  const { proxyUrl } = v.parse(Config, await (await request.get('/config.json')).json())
  const headers = { origin: net.urls.web, 'x-requested-by': 'paydesk' }
  const asked = { walletAddress: ethereum.address, network: `eip155:${net.evm.chainId}` }
  const challenge = await request.post(`${proxyUrl}/api/session/challenge`, {
    headers,
    data: asked,
  })
  const { id, message } = v.parse(Challenge, await challenge.json())
  const opened = await request.post(`${proxyUrl}/api/session`, {
    headers,
    data: { id, signature: await ethereum.signMessage(message) },
  })
  expect(opened.status(), await opened.text()).toBe(200)
  await page.goto(path)
  return page
}

/** The path of a new link to the seller's Ethereum wallet, made by a page that is signed in as the seller. */
export async function createLinkByApi(
  page: Page,
  net: Devnet,
  terms: Readonly<Record<string, string | number>>,
): Promise<string> {
  const network = net.networks.find(({ network }) => network.startsWith('eip155:'))?.network
  const wish = { network, recipient: net.wallets.seller.evm.address, ...terms }
  return askForLink(page, net, { path: '/links', wish })
}

/** A short link, of 12.50 EUR unless its terms name a price or a product. */
export async function createShortLinkByApi(
  page: Page,
  net: Devnet,
  terms: Readonly<Record<string, string | number | boolean | object>>,
): Promise<string> {
  const priced = 'price' in terms || 'product' in terms
  const wish = priced ? terms : { price: { currency: 'EUR', amount: '12.50' }, ...terms }
  return askForLink(page, net, { path: '/links/short', wish })
}

/** The id of a new product, made by a page that is signed in as the seller. */
export async function createProductByApi(
  page: Page,
  net: Devnet,
  product: Readonly<{
    name: string
    description?: string
    price: { currency: string; amount: string }
    image?: string
  }>,
): Promise<string> {
  const made = await postToProxy(page, net, { path: '/products', wish: product })
  return v.parse(v.object({ product: v.object({ id: v.string() }) }), made).product.id
}

async function askForLink(
  page: Page,
  net: Devnet,
  asked: { path: string; wish: unknown },
): Promise<string> {
  const made = await postToProxy(page, net, asked)
  return `/pay/${v.parse(v.object({ link: v.object({ link: v.string() }) }), made).link.link}`
}

function postToProxy(
  page: Page,
  net: Devnet,
  asked: { path: string; wish: unknown },
): Promise<unknown> {
  return page.evaluate(
    async ({ proxy, path, wish }): Promise<unknown> => {
      const response = await fetch(`${proxy}/api${path}`, {
        method: 'POST',
        credentials: 'include',
        headers: { 'Content-Type': 'application/json', 'X-Requested-By': 'paydesk' },
        body: JSON.stringify(wish),
      })
      return response.json()
    },
    { proxy: net.urls.bff.replace('127.0.0.1', 'localhost'), ...asked },
  )
}

/** Signs in where the page asks for it. The demo seller runs the dashboard. */
export async function signIn({ page }: Pick<Person, 'page'>, path = '/payments'): Promise<Page> {
  await page.goto(path)
  await connect(page, 'MetaMask')
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(page.getByRole('button', { name: textLike('Sign in as {address}') })).toHaveCount(0)
  return page
}

export function paymentTable(page: Page) {
  return page.getByRole('table', { name: textLike('Payments') })
}

/** Payments in view; the heading is a row too. */
export function paymentRows(page: Page) {
  return paymentTable(page).locator('tr[data-payment-row]')
}

/** What a download holds. */
export async function downloaded(
  page: Page,
  start: () => Promise<void>,
): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), start()])
  const chunks: Buffer[] = []
  for await (const chunk of await download.createReadStream())
    chunks.push(Buffer.from(chunk as Buffer))
  return { name: download.suggestedFilename(), text: Buffer.concat(chunks).toString('utf8') }
}
