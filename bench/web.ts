import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import * as v from 'valibot'
import { privateKeyToAccount } from 'viem/accounts'
import { build } from 'vite'
import { Devnet } from '#devnet/network.ts'
import { succeed, textAt } from '#testing/api-client.ts'
import { findBrowser } from '#testing/browser.ts'
import { asReply } from '#testing/tenant-proxy.ts'
import { TestBrowser } from '#testing/test-browser.ts'
import { QUICK, runBench, spread } from './bench.ts'

/**
 * `npm run bench:web`: Lighthouse on a slow phone, on pages of the dashboard as `npm start` serves them, and in the same run on the bare template
 * `react-ts` of `npm create vite`, built with this repository's Vite and React. Medians of three runs, `--quick` of one. npm gets Lighthouse and the
 * template from its registry into its cache and a temporary folder; the repository depends on neither.
 */

const LIGHTHOUSE = 'lighthouse@12.8.2'
const TEMPLATE = { package: 'create-vite@9.3.0', folder: 'package/template-react-ts' }
const ROUNDS = QUICK ? 1 : 3
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
  /** What Lighthouse could not do. */
  runtimeError: v.optional(v.object({ message: v.string() })),
})

type Figures = {
  performance: number
  accessibility: number
  largest: number
  blocked: number
  requests: number
  bytes: number
}

const chrome = await findBrowser(env)

/** One run of Lighthouse. @throws Error with what it said when it could not open the page */
async function inspect(url: string, headers: Record<string, string> = {}): Promise<Figures> {
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
      '--only-categories=performance,accessibility',
      `--extra-headers=${extra}`,
      '--chrome-flags=--headless --no-sandbox',
    ],
    { cwd: folder, env: { ...env, CHROME_PATH: chrome } },
  )
  const { categories, audits, runtimeError } = v.parse(
    Report,
    JSON.parse(readFileSync(report, 'utf8')),
  )
  if (runtimeError) throw new Error(`${url}: ${runtimeError.message}`)
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

await runBench('web', async ({ add }) => {
  await using net = await Devnet.create()
  await using template = await serveTemplate()
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
  const pages = [
    { name: 'the template', url: `${template.url}/` },
    { name: '/', url: `${net.urls.web}/` },
    { name: '/pay with a form', url: `${net.urls.web}/pay` },
    { name: 'a payment link', url: `${net.urls.web}/pay/${link}` },
    { name: '/payments, signed out', url: `${net.urls.web}/payments` },
    { name: '/payments, signed in', url: `${net.urls.web}/payments`, headers: { Cookie: cookie } },
  ]
  const seen = new Map<string, Figures[]>(pages.map(({ name }) => [name, []]))
  // Each page once in each round: what slows the machine down slows all of them.
  for (let round = 0; round < ROUNDS; round++)
    for (const { name, url, headers } of pages) {
      const figures = await inspect(url, headers)
      console.error(`${name}: ${JSON.stringify(figures)}`)
      seen.get(name)?.push(figures)
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
