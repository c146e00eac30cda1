import { connect } from './checkout.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './expect-accessible.ts'
import { startLyingProxy } from './lying-proxy.ts'
import { text, textLike } from './text.ts'

/** What a server could send to somebody who only wants to read. */
const HOSTILE = `<!doctype html><html><head><title>T</title>
<script>globalThis.ran = 'script'</script>
<link rel="stylesheet" href="https://elsewhere.example/style.css">
<meta http-equiv="refresh" content="0;url=https://elsewhere.example/"></head>
<body onload="globalThis.ran = 'load'"><h1>The price of trust</h1>
<p onclick="globalThis.ran = 'click'">Read <em>this</em> &amp; nothing else.</p>
<img src="https://elsewhere.example/pixel.gif" alt="A chart" onerror="globalThis.ran = 'picture'">
<svg><script>globalThis.ran = 'drawing'</script></svg>
<iframe src="https://elsewhere.example/frame" srcdoc="<script>parent.ran = 'frame'</script>"></iframe>
<form action="https://elsewhere.example/"><button>Send your key</button></form>
<p><a href="javascript:globalThis.ran = 'link'">Press here</a> or go to <a href="https://elsewhere.example/more">the rest</a>.</p>
</body></html>`

test('a page is shown to be read: its words stand there, and nothing in it runs, loads or leads astray', async ({
  net,
  newBrowser,
}) => {
  await using server = await startLyingProxy(net.urls, { path: '/hostile', change: () => HOSTILE })
  const context = await newBrowser()
  const page = await context.newPage()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(`${server.url}/explore`)
  await page.getByLabel(text('URL')).fill(`${server.url}/hostile`)
  await page.getByRole('button', { name: text('Request'), exact: true }).click()

  const answer = page.getByRole('region', { name: text('The answer') })
  await expect(answer.getByRole('heading', { name: 'The price of trust' })).toBeVisible()
  await expect(answer.getByText('Read this & nothing else.')).toBeVisible()
  await expect(
    answer.getByText(text('[Image not loaded: {alt}]', { alt: 'A chart' })),
  ).toBeVisible()
  await expect(answer.getByRole('link')).toHaveCount(1)
  await expect(answer.getByRole('link', { name: 'the rest (elsewhere.example)' })).toHaveAttribute(
    'rel',
    'noopener noreferrer',
  )
  await expect(answer.locator('script, iframe, form, button, svg, img, [onclick]')).toHaveCount(0)
  await answer.getByText('Press here').click()
  await answer.getByText('Read this').click()
  await expectAccessible(page, 'explore: page to read')

  await page.getByText(text('Source code'), { exact: true }).click()
  await expect(answer.getByText("globalThis.ran = 'script'")).toBeVisible()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: text('Save file') }).click()
  expect((await download).suggestedFilename()).toBe('answer.html')

  expect(await page.evaluate(() => Reflect.get(globalThis, 'ran') as unknown)).toBeUndefined()
  expect(asked.filter((url) => url.includes('elsewhere.example'))).toEqual([])
})

test('what a connected wallet can pay comes first and is the filled button; what no wallet here can pay is folded', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(/status of 402/)
  const { page } = await buyer({ sol: 2 })
  await page.goto('/explore')
  await page.getByLabel(text('URL')).fill(`${net.urls.seller}/issues/1`)
  await page.getByRole('button', { name: text('Request'), exact: true }).click()
  await expect(page.getByRole('heading', { name: text('Payment required') })).toBeVisible()
  const unusable = page.getByText(textLike('Not supported by browser wallets.'))
  await expect(unusable.first()).toBeHidden()

  const options = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ hasText: /\d\s*(W?ETH|SOL|USDC)/ })
  await expect(options.first()).toContainText('ETH')
  await connect(page, 'Phantom')
  // The server names its networks in its own order, and this wallet has SOL alone.
  await expect(options.first()).toContainText(/0\.25\s*SOL/)
  const filled = page.locator('main button.bg-accent')
  await expect(filled).toHaveCount(1)
  await expect(options.first().locator('button.bg-accent')).toHaveText(text('Review and pay'))

  await page.getByText(text('Options not supported here')).click()
  await expect(unusable.first()).toBeVisible()
  await expectAccessible(page, 'explore: options that cannot be paid here')
})
