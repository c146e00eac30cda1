import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { argv, env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import * as v from 'valibot'
import { privateKeyToAccount } from 'viem/accounts'
import { build } from 'vite'
import { Devnet } from '#devnet/network.ts'
import { pagePaths } from '#web/router/page-paths.ts'
import { succeed, textAt } from '#testing/api-client.ts'
import { findBrowser } from '#testing/browser.ts'
import { asReply } from '#testing/tenant-proxy.ts'
import { TestBrowser } from '#testing/test-browser.ts'
import { QUICK, runBench, spread, type Bench } from './bench.ts'

/**
 * `npm run bench:web`: Lighthouse on a slow phone, on pages of the dashboard as `npm start` serves them, and in the same run on the bare template
 * `react-ts` of `npm create vite`, built with this repository's Vite and React. Medians of three runs, `--quick` of one. npm gets Lighthouse and the
 * template from its registry into its cache and a temporary folder; the repository depends on neither.
 * `--accessibility`: that category alone, once, on every page that has no parameter, and on one of each kind with one: a payment link, a file, an
 * invoice with the page that pays it, a customer, a payment as its merchant and as its buyer see it, and its refund.
 */

const LIGHTHOUSE = 'lighthouse@12.8.2'
const TEMPLATE = { package: 'create-vite@9.3.0', folder: 'package/template-react-ts' }
const ROUNDS = QUICK ? 1 : 3
const ACCESSIBILITY = argv.includes('--accessibility')
const MOST_REQUESTS = 10
const BESIDE = 1.1
const POINTS = 2

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'paydesk-web-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const Numeric = v.object({ numericValue: v.number() })
const Report = v.object({
  categories: v.object({
    performance: v.object({ score: v.number() }),
    accessibility: v.object({ score: v.number() }),
  }),
  audits: v.object({
    'largest-contentful-paint': Numeric,
    'total-blocking-time': Numeric,
    'total-byte-weight': Numeric,
    'network-requests': v.object({ details: v.object({ items: v.array(v.unknown()) }) }),
  }),
})
const AccessibilityReport = v.object({
  categories: v.object({ accessibility: v.object({ score: v.number() }) }),
  audits: v.record(v.string(), v.object({ score: v.nullable(v.number()) })),
})
/** What Lighthouse could not do. */
const Failure = v.object({ runtimeError: v.optional(v.object({ message: v.string() })) })

type Figures = {
  performance: number
  accessibility: number
  largest: number
  blocked: number
  requests: number
  bytes: number
}

const chrome = await findBrowser(env)

type Page = { name: string; url: string; headers?: Record<string, string> }

/** One run of Lighthouse. @throws Error with what it said when it could not open the page */
async function runLighthouse({ url, headers = {} }: Page, categories: string): Promise<unknown> {
  const [report, extra] = [join(folder, 'report.json'), join(folder, 'headers.json')]
  writeFileSync(extra, JSON.stringify(headers))
  await run(
    'npm',
    [
      'exec',
      '--yes',
      `--package=${LIGHTHOUSE}`,
      '--',
      'lighthouse',
      url,
      '--quiet',
      '--output=json',
      `--output-path=${report}`,
      `--only-categories=${categories}`,
      `--extra-headers=${extra}`,
      '--chrome-flags=--headless --no-sandbox',
    ],
    { cwd: folder, env: { ...env, CHROME_PATH: chrome } },
  )
  const read: unknown = JSON.parse(readFileSync(report, 'utf8'))
  const { runtimeError } = v.parse(Failure, read)
  if (runtimeError) throw new Error(`${url}: ${runtimeError.message}`)
  return read
}

async function inspect(page: Page): Promise<Figures> {
  const { categories, audits } = v.parse(
    Report,
    await runLighthouse(page, 'performance,accessibility'),
  )
  return {
    performance: Math.round(categories.performance.score * 100),
    accessibility: Math.round(categories.accessibility.score * 100),
    largest: audits['largest-contentful-paint'].numericValue,
    blocked: audits['total-blocking-time'].numericValue,
    requests: audits['network-requests'].details.items.length,
    bytes: audits['total-byte-weight'].numericValue,
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** Builds the template and serves it as the devnet serves the dashboard: the same files are compressed. */
async function serveTemplate(): Promise<AsyncDisposable & { url: string }> {
  await run('npm', ['pack', TEMPLATE.package, '--silent'], { cwd: folder })
  await run('tar', ['xzf', `${TEMPLATE.package.replace('@', '-')}.tgz`], { cwd: folder })
  const root = join(folder, 'template')
  cpSync(join(folder, TEMPLATE.folder), root, { recursive: true })
  symlinkSync(
    fileURLToPath(new URL('../node_modules', import.meta.url)),
    join(root, 'node_modules'),
  )
  await build({ root, configFile: false, plugins: [react()], logLevel: 'error' })
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const file = join(root, 'dist', pathname === '/' ? 'index.html' : pathname)
    let content: Buffer
    try {
      content = readFileSync(file)
    } catch {
      return void response.writeHead(404).end()
    }
    const isGzip = ['.js', '.css', '.svg'].includes(extname(file))
    response
      .writeHead(200, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        ...(isGzip && { 'content-encoding': 'gzip' }),
      })
      .end(isGzip ? gzipSync(content) : content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** The pages of one file, one invoice with its payment page, one customer, and one payment. */
async function pagesWithParameter(
  browser: TestBrowser,
  web: string,
  headers: Record<string, string>,
): Promise<Page[]> {
  const post = async (path: string, body: object) =>
    succeed(asReply(await browser.post(`/api${path}`, body))).body
  const payments = succeed(asReply(await browser.get('/api/payments?limit=1'))).body
  const payment = textAt(payments, 'payments.0.paymentId')
  const customer = textAt(payments, 'payments.0.sender')
  const file = await post('/files', {
    name: 'Guide',
    prices: [{ currency: 'ETH', amount: '0.01' }],
    source: { kind: 'text', text: 'Hello' },
    page: `${web}/file`,
  })
  const code = textAt(file, 'file.url').split('/').at(-1) ?? ''
  await post('/invoices/seller', { name: 'Tea Ltd', address: '1 Quay', taxNumber: 'ES B1' })
  const draft = await post('/invoices', {
    dueOn: new Date(Date.now() + 14 * 86_400_000).toISOString().slice(0, 10),
    currency: 'ETH',
    lines: [{ name: 'Tea', quantity: '2', unitPrice: '0.01', taxPercent: '21' }],
    customer: { name: 'Ana Q.', address: '2 Hill' },
  })
  const issued = await post('/invoices/issue', { id: textAt(draft, 'invoice.id') })
  const on = (path: string) => `${web}${path}`
  return [
    { name: 'a file', url: on(`/file/${code}`) },
    { name: 'an invoice', url: on(`/invoices/${textAt(issued, 'invoice.id')}`), headers },
    { name: 'an invoice, to its buyer', url: on(`/pay/${textAt(issued, 'invoice.link')}`) },
    { name: 'a customer', url: on(`/customers/${customer}`), headers },
    { name: 'a payment', url: on(`/payments/${payment}`), headers },
    { name: 'a payment, to its buyer', url: on(`/payments/${payment}`) },
    { name: 'a refund', url: on(`/refund/${payment}`), headers },
  ]
}

/** Of every page the score and, where it is below 100, the audits that failed. */
async function measureAccessibility(pages: readonly Page[], { add }: Bench): Promise<void> {
  for (const page of pages) {
    const { categories, audits } = v.parse(
      AccessibilityReport,
      await runLighthouse(page, 'accessibility'),
    )
    const score = Math.round(categories.accessibility.score * 100)
    const failed = Object.keys(audits).filter((name) => audits[name]?.score === 0)
    const note = failed.join(', ') || undefined
    add({
      name: `${page.name}: accessibility`,
      ours: score,
      value: score,
      least: 100,
      unit: '',
      note,
    })
  }
}

await runBench(ACCESSIBILITY ? 'web-accessibility' : 'web', async (bench) => {
  const { add } = bench
  await using net = await Devnet.create()
  const seller = privateKeyToAccount(net.wallets.seller.evm.privateKey)
  const browser = new TestBrowser(() => net.urls.bff, net.urls.web)
  succeed(
    asReply(
      await browser.signIn({
        address: seller.address,
        network: `eip155:${net.evm.chainId}`,
        sign: (message) => seller.signMessage({ message }),
      }),
    ),
  )
  const cookie = browser.headers()['Cookie'] ?? ''
  const short = await browser.post('/api/links/short', {
    price: { currency: 'ETH', amount: '0.01' },
    description: 'Tea',
  })
  const link = textAt(succeed(asReply(short)).body, 'link.link')
  const signedIn = { Cookie: cookie }
  const on = (path: string) => `${net.urls.web}${path}`
  if (ACCESSIBILITY) {
    const form = new URLSearchParams({
      network: `eip155:${net.evm.chainId}`,
      to: seller.address,
      amount: '0.01',
    })
    const open = ['/', '/pay', '/explore', '/verify']
    const owned = Object.values(pagePaths).filter(
      (path) => !path.includes(':') && !['/pay', '/explore', '/verify'].includes(path),
    )
    const named = [
      { name: 'a form of the checkout with its terms', url: on(`/pay?${form.toString()}`) },
      { name: 'a payment link', url: on(`/pay/${link}`) },
      ...(await pagesWithParameter(browser, net.urls.web, signedIn)),
    ]
    return await measureAccessibility(
      [
        ...open.map((path) => ({ name: path, url: on(path) })),
        ...owned.map((path) => ({
          name: `${path}, signed in`,
          url: on(path),
          headers: signedIn,
        })),
        ...named,
      ],
      bench,
    )
  }
  await using template = await serveTemplate()
  const pages: Page[] = [
    { name: 'the template', url: `${template.url}/` },
    { name: '/', url: `${net.urls.web}/` },
    { name: '/pay with a form', url: `${net.urls.web}/pay` },
    { name: 'a payment link', url: `${net.urls.web}/pay/${link}` },
    { name: '/payments, signed out', url: `${net.urls.web}/payments` },
    { name: '/payments, signed in', url: `${net.urls.web}/payments`, headers: signedIn },
  ]
  const seen = new Map<string, Figures[]>(pages.map(({ name }) => [name, []]))
  // Each page once in each round: what slows the machine down slows all of them.
  for (let round = 0; round < ROUNDS; round++)
    for (const page of pages) {
      const figures = await inspect(page)
      console.error(`${page.name}: ${JSON.stringify(figures)}`)
      seen.get(page.name)?.push(figures)
    }
  const median = (name: string, field: keyof Figures) =>
    spread((seen.get(name) ?? []).map((figures) => figures[field])).p50
  const [first, ...ours] = pages.map(({ name }) => name)
  for (const page of ours) {
    const row = (field: keyof Figures) => ({
      peer: median(first ?? '', field),
      ours: median(page, field),
      value: median(page, field),
    })
    const [performance, accessibility, largest, blocked, requests, bytes] = [
      row('performance'),
      row('accessibility'),
      row('largest'),
      row('blocked'),
      row('requests'),
      row('bytes'),
    ]
    add({
      name: `${page}: performance`,
      ...performance,
      least: performance.peer - POINTS,
      unit: '',
    })
    add({ name: `${page}: accessibility`, ...accessibility, least: 100, unit: '' })
    add({
      name: `${page}: largest content`,
      ...largest,
      most: Math.round(BESIDE * largest.peer),
      unit: 'ms',
    })
    add({
      name: `${page}: blocked`,
      ...blocked,
      most: Math.round(BESIDE * blocked.peer),
      unit: 'ms',
    })
    add({ name: `${page}: requests`, ...requests, most: MOST_REQUESTS, unit: '' })
    add({ name: `${page}: sent`, ...bytes, unit: 'bytes' })
  }
})
