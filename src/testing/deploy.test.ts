import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { promisify } from 'node:util'
import { chromium, type Browser } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CACHE,
  contentSecurityPolicy,
  PATH_HEADERS,
  siteHeaders,
  siteHeadersOf,
} from '#contract/site-headers.ts'
import { freePort } from '#devnet/options.ts'
import { DIST, ensureBuilt } from '#devnet/web/build.ts'
import { pagePaths } from '#web/router/page-paths.ts'
import { findBrowser } from './browser.ts'

/** Every recipe for a static host says what src/contract/site-headers.ts says; nginx and Caddy are really started with theirs and looked at with a browser. */

const ROOT = join(import.meta.dirname, '../..')
const DEPLOY = join(ROOT, 'deploy')
/** The example addresses in the recipes. */
const CONNECT = [
  'https://pay-api.example.org',
  'https://ethereum-rpc.example.org',
  'https://solana-rpc.example.org',
  'wss://solana-rpc.example.org',
]
const table = siteHeaders(CONNECT)
const nested = Object.values<string>(pagePaths).flatMap((path) =>
  path.includes(':') ? [path] : [],
)
const run = promisify(execFile)

let folder: string
let browser: Browser

beforeAll(async () => {
  await ensureBuilt(() => undefined)
  // Readable for the user that a server's workers change to.
  folder = await mkdtemp(join(tmpdir(), 'paydesk-deploy-'))
  await run('chmod', ['755', folder])
  browser = await chromium.launch({
    executablePath: await findBrowser({ ...env }),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
}, 240_000)
afterAll(async () => {
  await browser?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

describe.each(['netlify', 'cloudflare-pages'])('%s', (host) => {
  test('sends the headers of the table', async () => {
    const rules = readHeaders(await readFile(join(DEPLOY, host, '_headers'), 'utf8'))
    const { 'Cache-Control': others, ...everywhere } = rules.get('/*') ?? {}
    expect(everywhere).toEqual(table)
    expect(rules.get('/assets/*')).toEqual({ 'Cache-Control': CACHE.assets })
    const paths = PATH_HEADERS.map(({ path }) => path)
    expect([...rules.keys()]).toEqual(['/*', '/assets/*', ...paths])
    for (const { path, name, value } of PATH_HEADERS)
      expect([path, rules.get(path)]).toEqual([path, { [name]: value }])
    // Netlify would join two values; its own default asks again each time.
    expect(others).toBe(host === 'netlify' ? undefined : CACHE.others)
  })

  test('has a rule for every page one level down, and for nothing else', async () => {
    const lines = (await readFile(join(DEPLOY, host, '_redirects'), 'utf8'))
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
    const target = host === 'netlify' ? '/nested.html' : '/nested'
    expect(new Set(lines.map((line) => line.split(/\s+/).join(' ')))).toEqual(
      new Set(nested.map((path) => `${path} ${target} 200`)),
    )
  })
})

/** `_headers`: a path, then its headers, indented; `! Name` takes one away that an earlier rule set. */
function readHeaders(text: string): Map<string, Record<string, string>> {
  const rules = new Map<string, Record<string, string>>()
  let current: Record<string, string> = {}
  for (const line of text.split('\n')) {
    if (!line.trim() || line.startsWith('#')) continue
    const [, name = '', value = ''] = /^\s+([^:!]+): (.*)$/.exec(line) ?? []
    if (name) current[name] = value
    else if (!line.startsWith(' ')) rules.set(line, (current = {}))
  }
  return rules
}

test('GitHub Pages gets the policy as a meta element, and its 404 page brings a deep link back', async () => {
  const site = join(folder, 'pages')
  await cp(DIST, join(site, 'desk'), { recursive: true })
  await run(process.execPath, [join(DEPLOY, 'github-pages/finish.ts'), join(site, 'desk')], {
    env: { ...env, PROXY_URL: 'http://127.0.0.1:9', CONNECT: CONNECT.slice(1).join(' ') },
  })
  const html = await readFile(join(site, 'desk/index.html'), 'utf8')
  const policy = contentSecurityPolicy(['http://127.0.0.1:9', ...CONNECT.slice(1)]).replace(
    " frame-ancestors 'none';",
    '',
  )
  expect(html).toContain(`<meta http-equiv="Content-Security-Policy" content="${policy}" />`)
  expect(await readFile(join(site, 'desk/config.json'), 'utf8')).toBe(
    '{"proxyUrl":"http://127.0.0.1:9"}\n',
  )

  // A host as GitHub Pages is one: a file, the file with .html, else 404.html with status 404.
  const { createServer: http } = await import('node:http')
  const server = http(async (request, response) => {
    const path = join(site, decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname))
    const found = [path, `${path}.html`, join(path, 'index.html')].find(
      (each) => /\.\w+$/.test(each) && existsSync(each),
    )
    const type = {
      html: 'text/html',
      js: 'text/javascript',
      css: 'text/css',
      json: 'application/json',
    }[(found ?? '.html').split('.').at(-1) ?? '']
    response
      .writeHead(found ? 200 : 404, { 'content-type': type ?? 'application/octet-stream' })
      .end(await readFile(found ?? join(site, 'desk/404.html')))
  }).listen(0)
  await once(server, 'listening')
  try {
    await expectPages(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, '/desk')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

/** Installs a server from Debian where we may; says why not where we may not. */
function findServer(name: 'nginx' | 'caddy'): string | undefined {
  const path = [`/usr/sbin/${name}`, `/usr/bin/${name}`].find((each) => existsSync(each))
  if (path || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return path
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) {
    if (
      spawnSync('apt-get', ['-qq', ...args], {
        stdio: 'ignore',
        env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
      }).status !== 0
    )
      return undefined
  }
  return [`/usr/sbin/${name}`, `/usr/bin/${name}`].find((each) => existsSync(each))
}

describe.each(['nginx', 'caddy'] as const)('%s', (name) => {
  const program = findServer(name)
  const why = program
    ? ''
    : ` (skipped: ${name} is not installed, and only root with apt can install it)`

  describe.skipIf(!program).each(['', '/desk'])(`with the app under "%s"${why}`, (base) => {
    let server: ChildProcess
    let url: string

    beforeAll(async () => {
      const port = await freePort()
      url = `http://127.0.0.1:${port}`
      const root = join(folder, `${name}${base.replace('/', '-')}`)
      await cp(DIST, join(root, base), { recursive: true })
      await writeFile(join(root, base, 'config.json'), '{"proxyUrl":"http://127.0.0.1:9"}')
      server = await start(name, { program: program ?? '', root, port })
    })
    afterAll(async () => {
      if (!server || server.exitCode !== null) return
      server.kill('SIGTERM')
      await once(server, 'exit')
    })

    test('sends the headers of the table with every answer, and lets only assets be kept', async () => {
      const html = await readFile(join(DIST, 'index.html'), 'utf8')
      const asset = /\.\/(assets\/[^"]+\.js)/.exec(html)?.[1]
      for (const [path, status, cache] of [
        ['/', 200, CACHE.others],
        ['/payments', 200, CACHE.others],
        ...nested.map((path) => [path.replace(/:\w+/, 'unknown'), 200, CACHE.others] as const),
        ['/pay', 200, CACHE.others],
        ['/pay/2mZxKq8nR4tB?from=shop', 200, CACHE.others],
        ['/button.js', 200, CACHE.others],
        ['/config.json', 200, CACHE.others],
        [`/${asset}`, 200, CACHE.assets],
        ['/assets/gone.js', 404, CACHE.others],
        ['/nowhere', 404, CACHE.others],
        ['/a/b/c', 404, CACHE.others],
      ] as const) {
        const response = await fetch(`${url}${base}${path}`)
        expect([path, response.status]).toEqual([path, status])
        const [pathname = ''] = path.split('?')
        const headers = pick(response.headers, Object.keys(table))
        expect({ path, ...headers }).toEqual({ path, ...siteHeadersOf(pathname, CONNECT) })
        expect([path, response.headers.get('cache-control')]).toEqual([path, cache])
        await response.arrayBuffer()
      }
      expect((await fetch(`${url}${base}/`, { method: 'POST' })).status).toBeGreaterThanOrEqual(403)
      expect((await fetch(`${url}${base}/`)).headers.get('server') ?? name).not.toMatch(/[0-9]/)
    })

    test('a browser opens the first page and deep links, and every link stays under the path', async () => {
      await expectPages(url, base)
    })
  })
})

/** The recipe as it stands, with only the place of its files and its port changed. */
async function start(
  name: 'nginx' | 'caddy',
  { program, root, port }: { program: string; root: string; port: number },
): Promise<ChildProcess> {
  const place = (text: string) =>
    text
      .replaceAll('/srv/paydesk', root)
      .replaceAll(/(listen |^:)8080/gm, `$1${name === 'nginx' ? '127.0.0.1:' : ''}${port}`)
  const home = join(root, '..', `${name}-home-${port}`)
  await mkdir(join(home, 'logs'), { recursive: true })
  const child =
    name === 'nginx'
      ? await startNginx(program, home, place)
      : await startCaddy(program, home, place)
  for (const deadline = Date.now() + 20_000; ;) {
    if (child.exitCode !== null) throw new Error(`${name} ended with exit code ${child.exitCode}.`)
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (answered) return child
    if (Date.now() > deadline) throw new Error(`${name} does not answer.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function startNginx(
  program: string,
  home: string,
  place: (text: string) => string,
): Promise<ChildProcess> {
  await writeFile(
    join(home, 'paydesk.conf'),
    place(await readFile(join(DEPLOY, 'nginx/paydesk.conf'), 'utf8')),
  )
  const main = `pid ${home}/pid; error_log ${home}/logs/error.log; daemon off; master_process off; events {}
http { include /etc/nginx/mime.types; access_log off; client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy; fastcgi_temp_path ${home}/f;
uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s; include ${home}/paydesk.conf; }`
  await writeFile(join(home, 'nginx.conf'), main)
  return spawn(program, ['-p', home, '-c', join(home, 'nginx.conf')], { stdio: 'inherit' })
}

async function startCaddy(
  program: string,
  home: string,
  place: (text: string) => string,
): Promise<ChildProcess> {
  const config = join(home, 'Caddyfile')
  // Its administration would listen on a port that others may have.
  await writeFile(
    config,
    `{\n\tadmin off\n\tlog {\n\t\toutput discard\n\t}\n}\n${place(await readFile(join(DEPLOY, 'caddy/Caddyfile'), 'utf8'))}`,
  )
  return spawn(program, ['run', '--config', config, '--adapter', 'caddyfile'], {
    stdio: 'ignore',
    env: { ...env, HOME: home, XDG_DATA_HOME: home },
  })
}

function pick(headers: Headers, names: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]))
}

/** The first page and deep links, all at once: each waits some seconds before it says that its proxy is away. */
async function expectPages(url: string, base: string): Promise<void> {
  await Promise.all(
    ['/', '/verify', '/payments/pay_unknown?a=b'].map((path) =>
      expectApp(`${url}${base}${path}`, `${base}${path}`),
    ),
  )
}

/** The app stands at this address, knows its base, and says that its proxy cannot be reached: none runs here. Nothing offends its policy. */
async function expectApp(url: string, address: string): Promise<void> {
  const page = await browser.newPage({ locale: 'en-US' })
  const refused: string[] = []
  page.on(
    'console',
    (message) => /policy|MIME|Trusted/i.test(message.text()) && refused.push(message.text()),
  )
  page.on('pageerror', (error) => refused.push(String(error)))
  try {
    await page.goto(url)
    await page.getByText('Server unreachable').first().waitFor({ timeout: 30_000 })
    const { pathname, search } = new URL(page.url())
    expect(pathname + search).toBe(address)
    const base = address.startsWith('/desk') ? '/desk' : ''
    const links = page.getByRole('navigation', { name: 'Main' }).first()
    expect(await links.getByRole('link', { name: 'Payments' }).getAttribute('href')).toBe(
      `${base}/payments`,
    )
    expect(refused.filter((text) => !text.includes('127.0.0.1:9'))).toEqual([])
  } finally {
    await page.close()
  }
}
