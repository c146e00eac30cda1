import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { HttpRequestError } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiKeyHint, createApiKey } from '#contract/api-key-body.ts'
import { createPaymentId } from '#contract/payment.ts'
import { apiKey } from '#service/db/schema/access.ts'
import { revokeKey } from '#service/keys/manage-keys.ts'
import { Fixture, ORIGIN } from '#testing/fixture.ts'
import { createTestDatabase, databaseVariables, type TestDatabase } from '#testing/postgres.ts'
import { TestBrowser, evmWallet, type TestWallet } from '#testing/test-browser.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
const seller = evmWallet()
const operator = evmWallet()

const databases: TestDatabase[] = []
let fixture: Fixture
beforeAll(async () => {
  fixture = await Fixture.open({ bff: { operatorWallets: [operator.address] } })
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  for (const database of databases) await database[Symbol.asyncDispose]()
})

/** The proxy as its own process, as it is run; everything it says is kept. */
async function start(
  key: string,
  serviceUrl = fixture.service.url,
  networks: readonly object[] = fixture.networks,
) {
  // The embedded database takes seconds to begin, and has no part in what is shown here.
  const database = await createTestDatabase('postgres', 'bff')
  databases.push(database)
  const env = {
    ...databaseVariables(database.target),
    PORT: '0',
    SERVICE_URL: serviceUrl,
    SERVICE_API_KEY: key,
    NETWORKS: JSON.stringify(networks),
    ALLOWED_ORIGINS: ORIGIN,
    SELLER_WALLETS: seller.address,
    OPERATOR_WALLETS: operator.address,
    LOG_LEVEL: 'trace',
  }
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output += String(chunk)))
  const exited = once(child, 'exit')
  await expect.poll(() => output).toContain('"msg":"listening"')
  const url = `http://127.0.0.1:${/"port":(\d+)/.exec(output)?.[1]}`
  return {
    url,
    output: () => output,
    /** @returns the exit code */
    async stop(): Promise<unknown> {
      child.kill('SIGTERM')
      const [code] = (await exited) as [unknown]
      return code
    },
  }
}

/** The key in every form it could leave in. */
function forms(key: string): string[] {
  const secret = key.slice(8)
  const bytes = Buffer.from(key)
  return [
    key,
    secret,
    secret.slice(0, 8),
    secret.slice(-8),
    apiKeyHint(key),
    bytes.toString('base64').slice(4, -4),
    bytes.toString('base64url').slice(4, -4),
    bytes.toString('hex'),
    encodeURIComponent(key),
    [...key].toReversed().join(''),
  ]
}

/** Every route, right and wrong, as nobody and as the operator; every byte that came back. */
async function drive(url: string, wallet: TestWallet): Promise<string> {
  const browser = new TestBrowser(() => url, ORIGIN)
  const received: string[] = []
  const keep = ({
    status,
    headers,
    text,
  }: {
    status: number
    headers: Headers
    text: string
  }): void => void received.push(String(status), JSON.stringify([...headers]), text)
  const round = async (): Promise<void> => {
    for (const path of [
      '/health/live',
      '/health/ready',
      '/api/config',
      '/api/session',
      '/api/events?lastEventId=x',
      '/api/payments',
      '/api/payments?limit=0',
      '/api/payments/summary',
      `/api/payment/history/${wallet.address}`,
      `/api/payment/status/${createPaymentId()}`,
      '/api/payment/status/x',
      '/api/token/info/11111111111111111111111111111111',
      '/api/token/info/x',
      '/api/api-keys',
      '/api/nothing',
    ])
      keep(await browser.get(path))
    keep(
      await browser.post('/api/transaction/send', {
        walletAddress: wallet.address,
        recipientAddress: seller.address,
        amount: 0.01,
      }),
    )
    keep(await browser.post('/api/transaction/send', { walletAddress: wallet.address }))
    keep(
      await browser.post('/api/transaction/submitted', {
        paymentId: createPaymentId(),
        signature: 'x',
      }),
    )
    keep(await browser.post('/api/session', { id: 'x', signature: 'y' }))
    keep(
      await browser.send('POST', '/api/session', {
        body: '{',
        headers: { 'Content-Type': 'application/json', 'X-Requested-By': 'paydesk' },
      }),
    )
    keep(await browser.get('/api/config', { Origin: 'https://evil.example' }))
  }
  await round()
  keep(await browser.signIn(wallet))
  const reader = browser.events('0')
  await round()
  await expect.poll(() => reader.raw).toContain('retry')
  if (url && (await browser.get('/health/ready')).status === 200)
    await expect.poll(() => reader.payments.length).toBeGreaterThan(0)
  reader.close()
  received.push(reader.raw)
  return received.join('\n')
}

function expectNoKey(text: string, key: string): void {
  expect(text.length).toBeGreaterThan(1000)
  for (const form of forms(key))
    expect(text.includes(form), `in the form ${form.slice(0, 4)}…`).toBe(false)
}

test('no byte of a working key leaves the proxy: in no answer, no event, no log line', async () => {
  await fixture.createPayment({})
  const bff = await start(fixture.key)
  const received = await drive(bff.url, operator)
  expect(received).toContain('event: payment')
  expect(await bff.stop()).toBe(0)
  expectNoKey(received, fixture.key)
  expectNoKey(bff.output(), fixture.key)
})

test('the log has no value of a query that failed, and no key of an RPC endpoint', async () => {
  const { db, log } = fixture.bff.context
  const mail = 'customer@shop.example'
  const failed = db.execute(sql`select * from no_such_table where mail = ${mail}`)
  const error = await failed.then(
    () => {},
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ params: [mail] })
  const { length } = fixture.log
  log.warn({ err: new Error('not read', { cause: error }) }, 'm')
  const url = 'https://mainnet.example/v3/k3y-0f-th3-pr0v1d3r'
  log.warn({ err: new HttpRequestError({ url, details: `no answer of ${url}` }) }, 'm')
  const lines = fixture.log.slice(length)
  expect(lines).toHaveLength(2)
  expect(lines.join('')).not.toMatch(/customer@|k3y-/)
  const [query, call] = lines.map((line): unknown => JSON.parse(line))
  expect(query).toMatchObject({
    err: {
      cause: {
        message: 'Failed query: select * from no_such_table where mail = $1',
        cause: { code: '42P01', message: 'relation "no_such_table" does not exist' },
      },
    },
  })
  expect(call).toMatchObject({
    err: { message: expect.stringContaining('https://mainnet.example/…') },
  })
})

test.each([
  ['that never existed', 'key_refused', async () => createApiKey('test')],
  ['that was revoked', 'key_refused', async () => fixture.key],
])(
  'a key %s is an error for the operator, in words, without the key',
  async (what, reason, makeKey) => {
    const key = await makeKey()
    if (what === 'that was revoked') await revoke()
    const bff = await start(key)
    const received = await drive(bff.url, operator)
    expect(await bff.stop()).toBe(0)
    expect(received).toContain(`"code":"SERVICE_UNAVAILABLE"`)
    expect(received).toContain(`"reason":{"code":"${reason}"`)
    expect(received).toContain('Set SERVICE_API_KEY')
    expect(received).not.toContain('"code":"UNAUTHORIZED","message":"The API key')
    expect(bff.output()).toContain(
      '"operator":"The payment service does not accept the API key of this proxy.',
    )
    expectNoKey(received, key)
    expectNoKey(bff.output(), key)
  },
)

test.each([
  ['beside public ones', { publicRpcUrls: ['http://127.0.0.1:9'] }],
  ['without public ones', { publicRpcUrls: undefined }],
])('no byte of a key in rpcUrls, %s, leaves the proxy', async (_, changes) => {
  const canary = createApiKey('live')
  const rpcUrls = [
    `http://127.0.0.1:9/v2/${canary}`,
    `http://user:${canary}@127.0.0.1:9/`,
    `http://127.0.0.1:9/?apikey=${canary}`,
  ]
  const networks = fixture.networks.map((network) => ({ ...network, ...changes, rpcUrls }))
  const bff = await start(fixture.key, fixture.service.url, networks)
  const received = await drive(bff.url, operator)
  const config = (await (await fetch(`${bff.url}/api/config`)).json()) as {
    networks: { rpcUrls: string[] }[]
  }
  expect(await bff.stop()).toBe(0)
  expect(config.networks.map((network) => network.rpcUrls)).toEqual(
    networks.map(() => changes.publicRpcUrls ?? []),
  )
  expectNoKey(received, canary)
  expectNoKey(bff.output(), canary)
})

test('a service that answers with the key, or with nonsense, is not passed on', async () => {
  const key = createApiKey('live')
  const liar = createServer((request, response) => {
    const echo = {
      success: true,
      error: { message: request.headers.authorization },
      payments: request.rawHeaders,
    }
    response.writeHead(request.url?.includes('summary') ? 500 : 200, {
      'Content-Type': 'application/json',
      'X-Debug': key,
      'Set-Cookie': `k=${key}`,
      'Retry-After': '1',
    })
    response.end(JSON.stringify(echo))
  }).listen(0, '127.0.0.1')
  await once(liar, 'listening')
  const bff = await start(key, `http://127.0.0.1:${(liar.address() as { port: number }).port}`)
  const received = await drive(bff.url, operator)
  expect(await bff.stop()).toBe(0)
  liar.close()
  liar.closeAllConnections()
  expect(received).toContain('"reason":{"code":"nonsense"')
  expectNoKey(received, key)
  expectNoKey(bff.output(), key)
})

async function revoke(): Promise<void> {
  const [row] = await fixture.service.context.db.select().from(apiKey)
  await revokeKey(fixture.service.context.db, row?.id ?? '', new Date())
  fixture.service.context.callers.forget()
}
