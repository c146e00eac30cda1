import type { Page, Route } from '@playwright/test'
import { openCheckout, connectOnForm, review } from './checkout.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum, onSolana } from './orders.ts'
import { signIn } from './seller.ts'
import { text } from './text.ts'

/**
 * Endpoints fail, and no page ever shows a word of a library, a browser, a node or a server: not
 * even for a moment. Each way of failing, for each way of asking: `src/web/rpc/call.test.ts`.
 */

const FAILURES: Readonly<Record<string, (route: Route) => Promise<void>>> = {
  'closes the connection': (route) => route.abort('connectionreset'),
  'answers with an error': (route) =>
    route.fulfill({ status: 500, body: 'TypeError: undefined is not a function' }),
  'answers with a page of another server': (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>502 Bad Gateway</h1>' }),
  'limits the rate': (route) =>
    route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, body: 'Too Many Requests' }),
  'answers with an error of JSON-RPC': (route) =>
    route.fulfill({
      status: 200,
      contentType: 'application/json',
      body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"ECONNRESET. Version: viem@0.0.0"}}',
    }),
}

/** Two of them: the client reads every answer in one place. */
const PROXY_FAILURES = Object.entries(FAILURES).slice(1, 3)

/** Words that only programs say. */
const FOREIGN =
  /viem|Version: |Request body|jsonrpc|eth_\w|getLatest|ECONN|TypeError|undefined|\[object|NaN|Failed to fetch|fetch failed|Load failed|Bad Gateway|Too Many|https?:\/\/(?:localhost|127\.0\.0\.1):\d+\/?\s|HTTP request|Unexpected token|JSON|-32\d{3}/

const CONSOLE = /ERR_|Failed to load resource|429|500|502|WebSocket|EventSource|MIME type/

/** Remembers each text that the page shows and that programs say, from now on and after each load. */
async function watchTexts(page: Page): Promise<() => Promise<string[]>> {
  const found: string[] = []
  await page.exposeFunction('reportForeign', (shown: string) => void found.push(shown))
  await page.addInitScript((pattern) => {
    const foreign = new RegExp(pattern)
    const report = Reflect.get(window, 'reportForeign') as (shown: string) => void
    const read = (node: Node) => {
      const shown = node.textContent ?? ''
      const inCode = node.parentElement?.closest('script, style, pre, code, textarea')
      if (!inCode && foreign.test(shown)) report(`${location.pathname}: ${shown.slice(0, 300)}`)
    }
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes) {
        if (target instanceof Text) read(target)
        for (const added of addedNodes) {
          const walker = document.createTreeWalker(added, NodeFilter.SHOW_TEXT)
          if (added instanceof Text) read(added)
          for (let node = walker.nextNode(); node; node = walker.nextNode()) read(node)
        }
      }
    }).observe(document, { childList: true, subtree: true, characterData: true })
  }, FOREIGN.source)
  return async () => found
}

test('an RPC endpoint that fails is replaced by the next one, and where none answers the page says so in words of ours', async ({
  net,
  buyer,
  expectError,
}) => {
  test.slow()
  expectError(CONSOLE)
  const { page } = await buyer({ ether: '1', sol: 1 })
  const foreign = await watchTexts(page)
  // Two endpoints of each network: the first one fails from the start.
  await page.route('**/api/config', async (route) => {
    const response = await route.fetch()
    const config = (await response.json()) as { networks: { rpcUrls: string[] }[] }
    for (const network of config.networks)
      network.rpcUrls = network.rpcUrls.flatMap((url) => [`${url}/first`, url])
    await route.fulfill({ response, json: config })
  })
  const ways = Object.values(FAILURES)
  let asked = 0
  const fail = (route: Route) => ways[asked++ % ways.length]?.(route) ?? route.abort()
  await page.route('**/first', fail)
  for (const [order, wallet] of [
    [onEthereum(net, '0.01'), 'MetaMask'],
    [onSolana(net, '0.1'), 'Phantom'],
  ] as const) {
    await openCheckout(page, order)
    await connectOnForm(page, wallet)
    await review(page, wallet)
  }
  expect(asked).toBeGreaterThan(1)

  for (const { rpcUrl } of [net.evm, net.solana]) await page.route(`${rpcUrl}/`, fail)
  await openCheckout(page, onSolana(net, '0.1'))
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expect(page.getByRole('alert').first()).toBeVisible({ timeout: 45_000 })
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  expect(await foreign()).toEqual([])
})

for (const [way, fail] of PROXY_FAILURES) {
  test(`a proxy that ${way} is told in words of ours on every page`, async ({
    seller,
    visitor,
    expectError,
  }) => {
    test.slow()
    expectError(CONSOLE)
    // Where the settings of the dashboard fail nothing else is asked; then everything but them fails.
    const cases = [
      [await visitor(), '**/api/**', ['/', '/pay']],
      [
        await signIn(await seller(), '/payments'),
        /\/api\/(?!config)/,
        ['/', '/payments', '/links', '/developers'],
      ],
    ] as const
    for (const [page, failing, paths] of cases) {
      const foreign = await watchTexts(page)
      await page.route(failing, fail)
      for (const path of paths) {
        await page.goto(path)
        await expect(page.getByRole('alert').first(), path).toBeVisible()
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      expect(await foreign()).toEqual([])
    }
  })
}
