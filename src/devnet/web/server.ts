import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Network, chainIdOf, familyOf } from '#contract/network.ts'
import { CACHE, siteHeadersOf } from '#contract/site-headers.ts'
import type { Wallets } from '../nodes/wallets.ts'
import { DEMO_WALLET, DIST } from './build.ts'

export type WebOptions = {
  port: number
  bffPort: number
  shops: readonly string[]
  networks: Network[]
  wallets: Wallets
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json',
}

/** Sent in fewer bytes, as hosts do; pictures and fonts are compressed already. */
const COMPRESSED: ReadonlySet<string> = new Set(['.js', '.css', '.json', '.svg', '.txt', '.map'])

const HOSTS = new Set(['localhost', '127.0.0.1'])

/** A static host for the built web app, with the headers a real one is told to send, and the demo wallet as the browser's extension. */
export class WebServer implements AsyncDisposable {
  readonly url: string
  readonly #server: Server

  private constructor(server: Server, port: number) {
    this.#server = server
    this.url = `http://localhost:${port}`
  }

  static async start(options: WebOptions): Promise<WebServer> {
    const server = createServer((request, response) => {
      serve(options, request, response).catch(() => response.destroy())
    })
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(options.port, '127.0.0.1', resolve),
    )
    return new WebServer(server, options.port)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }
}

async function serve(
  options: WebOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
  const target = URL.parse(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`)
  // A foreign name that resolves to this machine must not reach the wallet's keys.
  if (!target || !HOSTS.has(target.hostname)) return void response.writeHead(421).end()
  setHeaders(options, target, response)
  const { pathname } = target
  if (pathname === '/config.json')
    return sendJson(response, {
      proxyUrl: `http://${target.hostname}:${options.bffPort}`,
      title: 'Paydesk',
    })
  if (pathname === '/demo-wallet.json') return sendJson(response, walletConfig(options))
  if (pathname === '/demo-wallet.js')
    return sendFile({ request, response }, DEMO_WALLET, 'no-cache')
  const file = await findFile(pathname)
  if (file)
    return sendFile(
      { request, response },
      file,
      pathname.startsWith('/assets/') ? CACHE.assets : CACHE.others,
    )
  // A missing asset is missing; any other path is a page of the app.
  if (extname(pathname) !== '' && !pathname.startsWith('/pay'))
    return void response.writeHead(404).end()
  const page = pathname.split('/').length > 2 ? 'nested.html' : 'index.html'
  const html = await readFile(join(DIST, page), 'utf8')
  response.writeHead(200, { 'content-type': TYPES['.html'], 'cache-control': 'no-cache' })
  response.end(html.replace('<head>', '<head>\n    <script src="/demo-wallet.js"></script>'))
}

function setHeaders(
  { bffPort, shops, networks }: WebOptions,
  { hostname, pathname }: URL,
  response: ServerResponse,
): void {
  const { 'Strict-Transport-Security': _, ...headers } = siteHeadersOf(
    pathname,
    connectOrigins({ proxyUrl: `http://${hostname}:${bffPort}`, shops, networks }),
  )
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}

function sendJson(response: ServerResponse, body: unknown): void {
  response
    .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body))
}

/** A file of the build, never one outside of it; `index.html` only as a page. */
async function findFile(pathname: string): Promise<string | undefined> {
  if (pathname === '/' || pathname === '/index.html' || pathname.includes('\0')) return undefined
  const file = normalize(join(DIST, decodeURIComponent(pathname)))
  if (!file.startsWith(DIST + sep)) return undefined
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() ? file : undefined
}

type Served = { request: IncomingMessage; response: ServerResponse }

async function sendFile(
  { request, response }: Served,
  file: string,
  cacheControl: string,
): Promise<void> {
  const extension = extname(file)
  const isGzip =
    COMPRESSED.has(extension) && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  response.writeHead(200, {
    'content-type': TYPES[extension] ?? 'application/octet-stream',
    'cache-control': cacheControl,
    vary: 'accept-encoding',
    ...(isGzip && { 'content-encoding': 'gzip' }),
  })
  if (isGzip) return void response.end(await compress(file))
  await pipeline(createReadStream(file), response)
}

/** Files by their path and time of change, compressed: pages ask for the same ones again and again. */
const compressed = new Map<string, Promise<Buffer>>()

async function compress(file: string): Promise<Buffer> {
  const { mtimeMs } = await stat(file)
  const key = `${file} ${mtimeMs}`
  const known = compressed.get(key)
  if (known) return known
  const made = readFile(file).then((bytes) => promisify(gzip)(bytes))
  compressed.set(key, made)
  made.catch(() => compressed.delete(key))
  return made
}

/** What the demo wallet needs to stand in for an extension: the keys and the nodes of this machine. */
function walletConfig({ networks, wallets: { buyer, seller } }: WebOptions): unknown {
  const evm = networks.find(({ network }) => familyOf(network) === 'evm')
  const solana = networks.find(({ network }) => familyOf(network) === 'solana')
  return {
    people: [
      {
        name: 'Buyer',
        evmPrivateKey: buyer.evm.privateKey,
        solanaSecretKey: buyer.solana.secretKey,
      },
      {
        name: 'Seller',
        evmPrivateKey: seller.evm.privateKey,
        solanaSecretKey: seller.solana.secretKey,
      },
    ],
    tokens: networks.flatMap(({ assets }) => assets.filter(({ native }) => !native)),
    evm: evm && { chainId: chainIdOf(evm.network), rpcUrl: evm.rpcUrls[0] },
    solana: solana && { rpcUrl: solana.rpcUrls[0] },
  }
}

/** `shops`: origins that a person pays by x402 straight from the page; others go through the proxy. */
type Reached = { proxyUrl: string; shops: readonly string[]; networks: readonly Network[] }

/** What the page asks beside its own host: its proxy, the shop of this devnet, and the nodes it checks the chains with. */
function connectOrigins({ proxyUrl, shops, networks }: Reached): string[] {
  const urls = networks.flatMap(({ rpcUrls, wsUrl }) => [
    ...rpcUrls,
    ...rpcUrls.map((url) => url.replace(/^http/, 'ws')),
    ...(wsUrl ? [wsUrl] : []),
  ])
  return [...new Set([proxyUrl, ...shops, ...urls.map((url) => new URL(url).origin)])]
}
