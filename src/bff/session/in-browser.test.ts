import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { env } from 'node:process'
import { chromium, type Browser, type Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findBrowser } from '#testing/browser.ts'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet } from '#testing/test-browser.ts'

/** What only a browser decides: whether it keeps our cookies and sends them back, and what a page of a foreign origin gets. */

let web: Server
let browser: Browser
let fixture: Fixture
let port: number

beforeAll(async () => {
  web = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>page</title>')
  }).listen(0)
  await once(web, 'listening')
  ;({ port } = web.address() as AddressInfo)
  fixture = await Fixture.open({
    bff: {
      host: '127.0.0.1',
      allowedOrigins: [`http://localhost:${port}`, `http://127.0.0.1:${port}`],
    },
  })
  const browserEnv = { ...env }
  browser = await chromium.launch({
    executablePath: await findBrowser(browserEnv),
    args: ['--no-sandbox'],
    env: browserEnv,
  })
})
afterAll(async () => {
  await browser?.close()
  await fixture?.[Symbol.asyncDispose]()
  web?.closeAllConnections()
  web?.close()
})

async function open(host: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`http://${host}:${port}/`)
  return page
}

type Call = { url: string; method: string; body?: unknown }

/** A request as the web app makes it; the answer, or the name of the error. */
function call(page: Page, request: Call): Promise<string> {
  return page.evaluate(async ({ url, method, body }: Call) => {
    const headers = {
      'X-Requested-By': 'paydesk',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    try {
      const response = await fetch(url, {
        method,
        credentials: 'include',
        headers,
        body: JSON.stringify(body),
      })
      return await response.text()
    } catch (error) {
      return String(error)
    }
  }, request)
}

test.each([
  ['localhost', 'localhost', 'the same site on another port'],
  ['127.0.0.1', '127.0.0.1', 'the same site by its address'],
  ['127.0.0.1', 'localhost', 'another site'],
])(
  'a page on %s signs in at a proxy on %s (%s), stays signed in, and signs out',
  async (host, proxyHost) => {
    const page = await open(host)
    const proxy = `http://${proxyHost}:${fixture.bff.port}`
    const wallet = evmWallet()
    const challenge = JSON.parse(
      await call(page, {
        url: `${proxy}/api/session/challenge`,
        method: 'POST',
        body: { walletAddress: wallet.address, network: wallet.network },
      }),
    ) as { id: string; message: string }
    await call(page, {
      url: `${proxy}/api/session`,
      method: 'POST',
      body: { id: challenge.id, signature: await wallet.sign(challenge.message) },
    })
    await page.reload()
    expect(
      JSON.parse(await call(page, { url: `${proxy}/api/session`, method: 'GET' })),
    ).toMatchObject({ session: { wallets: [wallet.address] } })
    expect(await page.evaluate(() => document.cookie)).toBe('')
    const stream = await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const source = new EventSource(url, { withCredentials: true })
          source.addEventListener('open', () => (source.close(), resolve('open')))
          source.addEventListener('error', () => (source.close(), resolve('error')))
        }),
      `${proxy}/api/events`,
    )
    expect(stream).toBe('open')
    await call(page, { url: `${proxy}/api/session`, method: 'DELETE' })
    expect(JSON.parse(await call(page, { url: `${proxy}/api/session`, method: 'GET' }))).toEqual({
      session: null,
    })
    await page.context().close()
  },
)

test('a page of a foreign origin reads nothing and changes nothing, even in a browser that is signed in', async () => {
  const page = await open('localhost')
  const proxy = `http://localhost:${fixture.bff.port}`
  const wallet = evmWallet()
  const challenge = JSON.parse(
    await call(page, {
      url: `${proxy}/api/session/challenge`,
      method: 'POST',
      body: { walletAddress: wallet.address, network: wallet.network },
    }),
  ) as { id: string; message: string }
  await call(page, {
    url: `${proxy}/api/session`,
    method: 'POST',
    body: { id: challenge.id, signature: await wallet.sign(challenge.message) },
  })

  const evil = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>evil</title>')
  }).listen(0)
  await once(evil, 'listening')
  const hostile = await page.context().newPage()
  await hostile.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`)
  expect(await call(hostile, { url: `${proxy}/api/session`, method: 'GET' })).toContain('TypeError')
  expect(await call(hostile, { url: `${proxy}/api/session`, method: 'DELETE' })).toContain(
    'TypeError',
  )
  const tried = await hostile.evaluate(async (base) => {
    const image = new Promise((resolve) => {
      const element = new Image()
      element.addEventListener('load', () => resolve('loaded'))
      element.addEventListener('error', () => resolve('refused'))
      element.src = `${base}/api/config`
    })
    const stream = new Promise((resolve) => {
      const source = new EventSource(`${base}/api/events`, { withCredentials: true })
      source.addEventListener('open', () => (source.close(), resolve('open')))
      source.addEventListener('error', () => (source.close(), resolve('refused')))
    })
    await fetch(`${base}/api/session`, {
      method: 'POST',
      mode: 'no-cors',
      credentials: 'include',
      headers: { 'Content-Type': 'text/plain' },
      body: '{}',
    }).catch(() => {})
    return [await image, await stream]
  }, proxy)
  expect(tried).toEqual(['refused', 'refused'])
  await hostile.evaluate((action) => {
    const form = document.createElement('form')
    Object.assign(form, { method: 'post', enctype: 'text/plain', action })
    document.body.append(form)
    form.submit()
  }, `${proxy}/api/session`)
  await hostile.waitForURL(`${proxy}/**`)
  expect(await hostile.content()).toContain('FORBIDDEN')
  expect(
    JSON.parse(await call(page, { url: `${proxy}/api/session`, method: 'GET' })),
  ).toMatchObject({ session: { wallets: [wallet.address] } })
  await page.context().close()
  evil.closeAllConnections()
  evil.close()
})
