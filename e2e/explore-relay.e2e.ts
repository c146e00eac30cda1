import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { expectAbsent } from './absent.ts'
import { copied } from './clipboard.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { downloaded } from './seller.ts'
import { text, textLike } from './text.ts'
import {
  ARTICLES,
  requestArticle,
  buyArticle,
  expectServed,
  payForArticle,
  REFUSED,
} from './articles.ts'

/** Articles of servers that a page cannot read by itself: hidden headers, redirections, large answers, no CORS headers. */

test('a 402 whose terms are hidden from pages is recognized, and read through the relay', async ({
  net,
  visitor,
  expectError,
}) => {
  expectError(REFUSED)
  const page = await visitor()
  await requestArticle(page, `${net.urls.seller}${ARTICLES.eth}?demo=hidden-headers`)
  await expect(page.getByRole('heading', { name: text('Payment terms hidden') })).toBeVisible()
  await expect(page.getByText('Access-Control-Expose-Headers')).toBeVisible()
  await expectAccessible(page, 'explore: terms hidden')
  await page.getByRole('button', { name: text('Use the relay') }).click()
  await expect(page.getByRole('heading', { name: text('Payment required') })).toBeVisible()
})

test('a large answer to a payment is received whole, and saved', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const person = await buyer({ sol: 2 })
  const { page, solana } = person
  await buyArticle(person, `${net.urls.seller}${ARTICLES.sol}?demo=large-answer`)
  await expectServed(page)
  await expectAccessible(page, 'explore: large answer')
  const { text: saved } = await downloaded(page, () =>
    page.getByRole('button', { name: text('Save file') }).click(),
  )
  expect(saved.length).toBeGreaterThanOrEqual(2 * 1024 * 1024 - 8)
  expect(solana.signed).toHaveLength(1)
})

test('an answer that is too large for the relay: its limits are said before, and another program or this browser gets what was paid for', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const person = await buyer({ sol: 2 })
  const { page } = person
  const url = `${net.urls.seller}${ARTICLES.sol}?demo=large-answer`
  await requestArticle(page, url, 'relay')
  await expect(page.getByRole('heading', { name: text('Payment required') })).toBeVisible()
  const limits = textLike('Limits: public HTTPS servers, one minute, 512 KB.')
  await expect(page.getByText(limits)).toBeVisible()
  await expectAccessible(page, 'explore: priced, through the relay')
  await buyArticle(person, url, 'relay')
  await expect(page.getByRole('heading', { name: text('Relay failed') })).toBeVisible({
    timeout: 45_000,
  })
  await expectAccessible(page, 'explore: too large for the relay')
  const command = await copied(page, page.getByRole('button', { name: text('Copy as curl') }))
  const [, name = '', value = ''] = /--header '(PAYMENT-SIGNATURE): ([^']+)'/.exec(command) ?? []
  expect(command).toContain(`'${url}'`)
  const received = await fetch(url, { headers: { [name]: value } })
  expect([received.status, (await received.text()).length > 2 ** 20]).toEqual([200, true])

  await page.getByRole('button', { name: text('From this browser') }).click()
  await expectServed(page)
  await expect(page.getByRole('button', { name: text('Save file') })).toBeVisible()
  expect(person.solana.signed).toHaveLength(1)
})

test('a redirection of a payment through the relay has delivered nothing, and names where it leads', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const person = await buyer({ sol: 2 })
  const { page, solana } = person
  const url = `${net.urls.seller}${ARTICLES.sol}?demo=redirect-after-payment`
  await buyArticle(person, url, 'relay')
  await expect(page.getByRole('heading', { name: text('Paid, not delivered') })).toBeVisible({
    timeout: 45_000,
  })
  await expect(page.getByRole('link', { name: `${net.urls.seller}/` })).toHaveAttribute(
    'rel',
    'noopener noreferrer',
  )
  await expectAccessible(page, 'explore: redirected after the payment')
  await page.goto('/')
  await expect(
    page.getByRole('note').filter({ hasText: text('Paid, not delivered') }),
  ).toContainText('0.1')
  expect(solana.signed).toHaveLength(1)
})

/** A server beside the shop, which says whom it was asked by. `cors`: whether pages may read it. `payments`: the payment headers that reached it. */
async function openServer(
  respond: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  { cors = true }: { cors?: boolean } = {},
) {
  const payments: string[] = []
  const server = createServer((request, response) => {
    if (cors) {
      response.setHeader('Access-Control-Allow-Origin', '*')
      response.setHeader('Access-Control-Allow-Headers', 'PAYMENT-SIGNATURE, X-PAYMENT')
      response.setHeader('Access-Control-Expose-Headers', 'PAYMENT-REQUIRED')
      if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    }
    const payment = request.headers['payment-signature'] ?? request.headers['x-payment']
    if (payment !== undefined) payments.push(String(payment))
    void respond(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    payments,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What no chain has confirmed is not called paid. */
const undelivered = (page: Page) =>
  page.getByRole('note').filter({ hasText: text('Payment pending') })

test.describe('on a host that lets its pages ask any server', () => {
  test.use({ bypassCSP: true })

  test('a payment that another server asks for by a redirection stays with the seller, and its reader closes it by hand', async ({
    net,
    buyer,
    expectError,
  }) => {
    expectError(REFUSED)
    const person = await buyer({ sol: 2 })
    const { page, solana } = person
    await using thief = await openServer((_, response) => void response.end('thanks'))
    const article = `${net.urls.seller}${ARTICLES.sol}`
    await using seller = await openServer(async ({ headers }, response) => {
      if (headers['payment-signature'] !== undefined)
        return void response.writeHead(307, { Location: `${thief.url}/more` }).end()
      const priced = await fetch(article)
      const required = priced.headers.get('payment-required') ?? ''
      response.writeHead(402, { 'PAYMENT-REQUIRED': required }).end(await priced.text())
    })
    await buyArticle(person, `${seller.url}/article`)
    await expect(page.getByRole('heading', { name: text('Redirected') })).toBeVisible({
      timeout: 45_000,
    })
    expect([seller.payments.length, thief.payments]).toEqual([1, []])
    await expectAccessible(page, 'explore: redirected to another server')

    // With the keyboard, and remembered.
    const close = page.getByRole('button', { name: text('I received it or got a refund') })
    await close.focus()
    await page.keyboard.press('Enter')
    const undo = page.getByRole('button', { name: text('Undo') })
    await expect(undo).toBeFocused()
    const closed = page.getByText(textLike('Marked as delivered or refunded, <0/>.'))
    await expect(closed.locator('time')).toBeVisible()
    await expectAccessible(page, 'explore: marked as delivered')
    const visit = page.url()
    await page.goto('/')
    await expect(page.getByRole('main')).toBeVisible()
    await expectAbsent(undelivered(page))
    await page.goto(visit)
    await expect(closed).toBeVisible()
    await undo.press('Enter')
    await expect(close).toBeFocused()
    await page.goto('/')
    await expect(undelivered(page)).toContainText('0.1')
    expect(solana.signed).toHaveLength(1)
  })

  test('a redirection before the payment is shown, and the server that named the price is paid', async ({
    net,
    buyer,
    expectError,
  }) => {
    expectError(REFUSED)
    const person = await buyer({ sol: 2 })
    const { page } = person
    const article = `${net.urls.seller}${ARTICLES.sol}`
    await using moved = await openServer(
      (_, response) => void response.writeHead(302, { Location: article }).end(),
    )
    await buyArticle(person, `${moved.url}/article`)
    await expectServed(page)
    await expect(page.getByText(article, { exact: true }).first()).toBeVisible()
    expect(moved.payments).toEqual([])
  })

  test('a seller without CORS headers is named, and is asked and paid through the relay', async ({
    net,
    buyer,
    expectError,
  }) => {
    expectError(REFUSED)
    expectError(/blocked by CORS policy|net::ERR_FAILED/)
    const person = await buyer({ sol: 2 })
    const { page, solana } = person
    const article = `${net.urls.seller}${ARTICLES.sol}`
    await using seller = await openServer(
      async ({ headers }, response) => {
        const payment = headers['payment-signature']
        const answer = await fetch(article, {
          headers: payment === undefined ? {} : { 'PAYMENT-SIGNATURE': String(payment) },
        })
        for (const name of ['content-type', 'payment-required', 'payment-response']) {
          const value = answer.headers.get(name)
          if (value !== null) response.setHeader(name, value)
        }
        response.writeHead(answer.status).end(await answer.text())
      },
      { cors: false },
    )
    await requestArticle(page, `${seller.url}/article`)
    await expect(page.getByRole('heading', { name: text('Blocked by the server') })).toBeVisible()
    await page.getByRole('button', { name: text('Use the relay') }).click()
    await expect(page.getByRole('heading', { name: text('Payment required') })).toBeVisible()
    await payForArticle(page)
    await expectServed(page)
    expect([seller.payments.length, solana.signed.length]).toEqual([1, 1])
  })
})
