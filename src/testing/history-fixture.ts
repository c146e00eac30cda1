import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import pg from 'pg'
import { createBff } from '#bff/bff.ts'
import { toConfig as toBffConfig } from '#bff/config/config.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import { foldTallies } from '#service/db/fold-tallies.ts'
import { createService } from '#service/service.ts'
import { OFFLINE_NETWORKS } from './fixture.ts'
import { TestBrowser, evmWallet } from './test-browser.ts'
import { createTestDatabase, databaseVariables } from './postgres.ts'
import { createTestKey } from './service-app.ts'

const SELLERS = {
  evm: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  solana: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
}

export type HistoryFixture = AsyncDisposable & {
  url: string
  /** The operator's session cookie, as a browser keeps it. */
  cookie: { name: string; value: string }
  accountId: string
}

/**
 * A Paydesk with a long history: the real service and the real proxy on one real Postgres, the
 * built web app on a static host, and an operator who is signed in. Its chains are unreachable;
 * lists need none.
 */
export async function openHistoryFixture({
  rows,
  dist,
}: {
  rows: number
  dist: string
}): Promise<HistoryFixture> {
  await using stack = new AsyncDisposableStack()
  const { target } = stack.use(await createTestDatabase('postgres', 'service'))
  if (!('url' in target)) throw new Error('A long history wants a Postgres server.')
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-long-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const service = stack.use(
    await createService({
      host: '127.0.0.1',
      port: 0,
      database: target,
      networks: OFFLINE_NETWORKS,
      logLevel: 'silent',
      signer: { env: { VAULT_KEY_FILE: join(folder, 'vault.key') } },
      trustedProxyHops: 0,
    }),
  )
  const made = await createTestKey(service.context.db)
  await writeHistory(target.migrationUrl ?? target.url, made.accountId, rows)
  while ((await foldTallies(service.context.db)) > 0);

  const web = createServer(
    (request, response) =>
      void serve({ dist, proxyUrl: () => proxyUrl }, request.url ?? '/', response),
  )
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  stack.defer(() => {
    web.close()
    web.closeAllConnections()
  })
  const url = `http://localhost:${(web.address() as AddressInfo).port}`
  const operator = evmWallet()
  const bff = stack.use(
    await createBff(
      toBffConfig({
        PORT: '0',
        SERVICE_URL: service.url,
        SERVICE_API_KEY: made.key,
        ...databaseVariables(target),
        NETWORKS: JSON.stringify(OFFLINE_NETWORKS),
        ALLOWED_ORIGINS: url,
        SELLER_WALLETS: Object.values(SELLERS).join(','),
        OPERATOR_WALLETS: operator.address,
        LOG_LEVEL: 'silent',
      }),
    ),
  )
  const proxyUrl = `http://localhost:${bff.port}`
  const browser = new TestBrowser(() => proxyUrl, url)
  const answer = await browser.signIn(operator)
  const [cookie] = [...browser.cookies].map(([name, value]) => ({ name, value }))
  if (answer.status !== 200 || !cookie)
    throw new Error(`The operator could not sign in: ${answer.text}`)
  const running = stack.move()
  return {
    url,
    cookie,
    accountId: made.accountId,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** A year of payments from 3,000 people, most of them paid, a few not; every eighth is outgoing. */
async function writeHistory(url: string, accountId: string, rows: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, resource, metadata, signature, confirmed_at, created_at, updated_at)
    select 'pay_' || translate(lpad(n::text, 22, 'A'), '0', 'Z'), $1, case when n % 8 = 0 then 'hosted' else 'local' end,
      case when n % 61 = 0 then 'failed' when n % 17 = 0 then 'expired' else 'finalized' end,
      case when n % 3 = 0 then $2 else 'eip155:31337' end, case when n % 3 = 0 then $3 else $4 end, case when n % 3 = 0 then 'SOL' else 'ETH' end,
      case when n % 3 = 0 then 9 else 18 end, (1 + n % 97) * case when n % 3 = 0 then 10000000::numeric else 1000000000000000::numeric end,
      case when n % 3 = 0 then '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T' else '0x' || lpad(to_hex(n % 3000), 40, 'a') end,
      case when n % 3 = 0 then $5 else $6 end,
      case when n % 4 = 0 then null else 'https://shop.example/articles/' || (n % 40) end,
      '{"description":"Article ' || (n % 40) || '","referenceId":"order ' || n || '"}', '0x' || lpad(to_hex(n), 64, '0'),
      now() - make_interval(secs => n * 31536000.0 / $7) + interval '9 seconds', now() - make_interval(secs => n * 31536000.0 / $7), now()
    from generate_series(1, $7::int) n`,
    [
      accountId,
      SOLANA_DEVNET,
      NATIVE_SOL.address,
      NATIVE_ETH.address,
      SELLERS.solana,
      SELLERS.evm,
      rows,
    ],
  )
  await client.query('analyze service.payment')
  await client.end()
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

async function serve(
  site: { dist: string; proxyUrl: () => string },
  path: string,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(path, 'http://localhost')
  if (pathname === '/config.json')
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ proxyUrl: site.proxyUrl() }))
  const file = join(site.dist, pathname)
  const found = pathname === '/' ? undefined : await stat(file).catch(() => undefined)
  const sent = found?.isFile()
    ? file
    : join(site.dist, pathname.split('/').length > 2 ? 'nested.html' : 'index.html')
  response.writeHead(200, { 'content-type': TYPES[extname(sent)] ?? 'application/octet-stream' })
  createReadStream(sent).pipe(response)
}
