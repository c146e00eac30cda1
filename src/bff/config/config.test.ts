import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OFFLINE_NETWORKS } from '#testing/fixture.ts'
import { ProxyConfigError, readDatabase, readEnv, toConfig } from './config.ts'

const KEY = 'pk_test_abcdefghijklmnopqrstuvwxyz0123456789abcdefghij'
const good = {
  SERVICE_URL: 'http://127.0.0.1:4020/',
  SERVICE_API_KEY: KEY,
  NETWORKS: JSON.stringify(OFFLINE_NETWORKS),
  ALLOWED_ORIGINS: 'http://localhost:4173, https://pay.example.com',
  SELLER_WALLETS: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8,11111111111111111111111111111111',
}

function problemsOf(env: Record<string, string | undefined>): string[] {
  try {
    toConfig(env)
    return []
  } catch (error) {
    if (!(error instanceof ProxyConfigError)) throw error
    return error.message.split('\n').slice(1)
  }
}

test('what must be set is enough; addresses come in their normal form', () => {
  expect(toConfig(good)).toMatchObject({
    host: '127.0.0.1',
    port: 4021,
    serviceUrl: 'http://127.0.0.1:4020',
    database: { dataDir: '.paydesk/bff' },
    allowedOrigins: ['http://localhost:4173', 'https://pay.example.com'],
    sellerWallets: [
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      '11111111111111111111111111111111',
    ],
    operatorWallets: [],
    title: 'Paydesk',
    relay: { audience: 'wallets', loopback: false },
    examples: [],
    walletConnect: null,
    trustedProxyHops: 0,
  })
})

test('a time zone is UTC where none is set, and one that nobody knows is named', () => {
  expect(toConfig(good).timeZone).toBe('UTC')
  expect(toConfig({ ...good, TIME_ZONE: 'Pacific/Auckland' }).timeZone).toBe('Pacific/Auckland')
  for (const TIME_ZONE of ['Auckland', '+13:00', 'Pacific/Aukland'])
    expect(problemsOf({ ...good, TIME_ZONE })).toEqual([
      `TIME_ZONE: expected the IANA name of the time zone whose days date invoices: "${TIME_ZONE}" is no known time zone. Example: TIME_ZONE=Pacific/Auckland`,
    ])
})

test('the logo is a small picture by its bytes, and the colour six hex digits', () => {
  const dir = mkdtempSync(join(tmpdir(), 'paydesk-logo-'))
  const file = (name: string, bytes: Buffer) => {
    writeFileSync(join(dir, name), bytes)
    return join(dir, name)
  }
  try {
    const png = Buffer.from('89504e470d0a1a0a00000000', 'hex')
    const jpeg = Buffer.from('ffd8ffe000104a464946', 'hex')
    const webp = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1')
    for (const [type, bytes] of Object.entries({ png, jpeg, webp }))
      expect(toConfig({ ...good, LOGO_FILE: file('logo', bytes) }).logo).toBe(
        `data:image/${type};base64,${bytes.toString('base64')}`,
      )
    expect(toConfig({ ...good, ACCENT_COLOR: '#0057FF' }).accentColor).toBe('#0057ff')
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
    const large = Buffer.concat([png, Buffer.alloc(16 * 1024)])
    for (const [LOGO_FILE, why] of [
      [file('logo.png', svg), 'It is none of these.'],
      [file('large', large), `It has ${large.length} bytes.`],
      ['/nowhere/logo.png', '"/nowhere/logo.png" cannot be read.'],
    ] as const)
      expect(problemsOf({ ...good, LOGO_FILE })).toEqual([
        `LOGO_FILE: expected a PNG, JPEG or WebP file of at most 16 KiB: ${why} Example: LOGO_FILE=/etc/paydesk/logo.png`,
      ])
    for (const ACCENT_COLOR of ['green', '#fff', '#12345g', 'url(x)'])
      expect(problemsOf({ ...good, ACCENT_COLOR })).toHaveLength(1)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('the relay and the examples of the explorer are the operator’s choice', () => {
  const examples = [
    { name: 'An article', url: 'https://shop.example.com/article', description: '' },
  ]
  const config = toConfig({
    ...good,
    RELAY: 'off',
    RELAY_LOOPBACK: '1',
    EXAMPLES: JSON.stringify(examples),
  })
  expect(config).toMatchObject({ relay: { audience: 'off', loopback: true }, examples })
  expect(
    problemsOf({
      ...good,
      RELAY: 'all',
      RELAY_LOOPBACK: 'yes',
      EXAMPLES: '[{"name":"x","url":"y"}]',
    }),
  ).toHaveLength(3)
})

test('all problems are told at once, each with its name, what is expected and an example', () => {
  const problems = problemsOf({ PORT: 'x', SERVICE_URL: 'ftp://a' })
  expect(problems.map((line) => line.split(':')[0])).toEqual([
    'PORT',
    'SERVICE_URL',
    'SERVICE_API_KEY',
    'NETWORKS',
    'ALLOWED_ORIGINS',
    'SELLER_WALLETS',
  ])
  for (const line of problems) expect(line).toMatch(/: expected .+ Example: [A-Z_]+=/)
})

test.each([
  ['ALLOWED_ORIGINS', '*'],
  ['ALLOWED_ORIGINS', 'null'],
  ['ALLOWED_ORIGINS', 'https://pay.example.com/'],
  ['ALLOWED_ORIGINS', 'https://pay.example.com:443'],
  ['ALLOWED_ORIGINS', 'https://PAY.example.com'],
  ['ALLOWED_ORIGINS', 'pay.example.com'],
  ['ALLOWED_ORIGINS', ','],
  ['SELLER_WALLETS', '0x12'],
  ['SELLER_WALLETS', '0x70997970C51812dc3A010C7d01b50e0d17dc79c8'],
  ['OPERATOR_WALLETS', 'me'],
  ['SERVICE_URL', 'http://user:secret@service:4020'],
  ['SERVICE_URL', 'http://service:4020/?key=secret'],
  ['SERVICE_API_KEY', 'short'],
  ['SERVICE_API_KEY', `${KEY}\nX-Admin: 1`],
  ['NETWORKS', '[]'],
  ['NETWORKS', '{'],
  ['TRUSTED_PROXY_HOPS', '-1'],
  ['MAX_CONNECTIONS', '0'],
  ['MAX_CONNECTIONS_PER_ADDRESS', 'many'],
  ['LOG_LEVEL', 'loud'],
])('%s=%j is refused', (name, value) => {
  const problems = problemsOf({ ...good, [name]: value })
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(new RegExp(`^${name}: expected `))
})

const fixed = { kind: 'fixed', rate: '2000', since: '2026-01-01T00:00:00Z' }
const http = { kind: 'http', url: 'https://rates.example/eth', path: ['usd'], maxAgeSeconds: 60 }
test.each<[string, object[], string]>([
  ['a pair twice', [{ sources: [fixed] }, { sources: [http] }], 'this pair is listed twice'],
  ['a rate of 0', [{ sources: [{ ...fixed, rate: '0' }] }], 'expected a rate above 0'],
  [
    'a source that others can change on its way',
    [{ sources: [{ ...http, url: 'http://rates.example/eth' }] }],
    'rates.example is asked over http',
  ],
  [
    'a network that is not configured',
    [{ sources: [{ kind: 'chainlink', network: 'eip155:5', address: '0x', maxAgeSeconds: 60 }] }],
    'eip155:5 is not a configured EVM network',
  ],
])('RATES with %s is refused', (_, rules, problem) => {
  const pairs = rules.map((rule) => ({ asset: 'ETH', currency: 'USD', ...rule }))
  expect(problemsOf({ ...good, RATES: JSON.stringify(pairs) })).toEqual([
    expect.stringContaining(problem),
  ])
})

test('RATES may be read over http from this machine', () => {
  const local = { ...http, url: 'http://127.0.0.1:4050/eth' }
  const rules = [{ asset: 'ETH', currency: 'USD', sources: [local, fixed] }]
  expect(toConfig(readEnv({ ...good, RATES: JSON.stringify(rules) })).rates).toHaveLength(1)
})

test('no problem repeats a secret', () => {
  const text = problemsOf({
    SERVICE_API_KEY: 'hunter2',
    SERVICE_URL: 'http://me:hunter2@a',
    DATABASE_URL: 'mysql://me:hunter2@a',
    MIGRATION_DATABASE_URL: 'mysql://me:hunter2@a',
  }).join('\n')
  expect(text).toContain('SERVICE_API_KEY')
  expect(text).not.toContain('hunter2')
})

test('MIGRATION_DATABASE_URL stands beside DATABASE_URL, and not alone', () => {
  const url = 'postgres://a:b@db/paydesk'
  const migrationUrl = 'postgres://owner:hunter2@db/paydesk'
  const alone = { MIGRATION_DATABASE_URL: migrationUrl }
  expect(readDatabase({ ...alone, DATABASE_URL: url })).toEqual({ url, migrationUrl })
  expect(() => readDatabase(alone)).toThrow(
    /^MIGRATION_DATABASE_URL: expected DATABASE_URL with it, of the role that the proxy runs as\.$/,
  )
})

test('the key and the networks may come from files; a file that cannot be read is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-config-'))
  writeFileSync(join(folder, 'key'), `${KEY}\n`)
  writeFileSync(join(folder, 'networks.json'), good.NETWORKS)
  const { SERVICE_API_KEY, NETWORKS, ...rest } = good
  expect(
    toConfig(
      readEnv({
        ...rest,
        SERVICE_API_KEY_FILE: join(folder, 'key'),
        NETWORKS_FILE: join(folder, 'networks.json'),
      }),
    ),
  ).toMatchObject({
    serviceApiKey: SERVICE_API_KEY,
    networks: JSON.parse(NETWORKS) as unknown,
  })
  rmSync(folder, { recursive: true })
  expect(() =>
    readEnv({ SERVICE_API_KEY_FILE: '/nowhere/key', NETWORKS_FILE: '/nowhere/networks' }),
  ).toThrow(/SERVICE_API_KEY_FILE.*\/nowhere\/key|NETWORKS_FILE/s)
})

test('e-mails need a mail server, a sender and the address of the proxy; TLS is required but on this machine', () => {
  const mail = {
    SMTP_URL: 'smtp://paydesk:pass%40word@smtp.example.com',
    MAIL_FROM: 'shop@example.com',
    PUBLIC_URL: 'https://pay-api.example.com',
  }
  expect(toConfig(good).mail).toBeUndefined()
  expect(
    toConfig({ ...good, ...mail, DASHBOARD_URL: 'https://pay.example.com/shop/' }).mail,
  ).toEqual({
    server: {
      host: 'smtp.example.com',
      port: 587,
      secure: false,
      requireTLS: true,
      auth: { user: 'paydesk', pass: 'pass@word' },
    },
    from: { name: 'Paydesk', address: 'shop@example.com' },
    dashboardUrl: 'https://pay.example.com/shop',
    publicUrl: 'https://pay-api.example.com',
  })
  expect(toConfig({ ...good, ...mail, SMTP_URL: 'smtps://smtp.example.com' }).mail).toMatchObject({
    server: { port: 465, secure: true },
    dashboardUrl: 'http://localhost:4173',
  })
  expect(toConfig({ ...good, ...mail, SMTP_URL: 'smtp://127.0.0.1:2525' }).mail?.server).toEqual({
    host: '127.0.0.1',
    port: 2525,
    secure: false,
    requireTLS: false,
  })
  for (const [name, changes] of [
    ['SMTP_URL', { SMTP_URL: 'https://smtp.example.com' }],
    ['SMTP_URL', { SMTP_URL: 'smtp://smtp.example.com?tls.rejectUnauthorized=false' }],
    ['SMTP_URL', { SMTP_URL: 'smtp://user@smtp.example.com' }],
    ['SMTP_URL', { SMTP_URL: 'smtp://a%0d%0a:b@smtp.example.com' }],
    ['SMTP_URL', { MAIL_FROM: '' }],
    ['SMTP_URL', { PUBLIC_URL: '' }],
    ['MAIL_FROM', { SMTP_URL: '' }],
    ['MAIL_FROM', { MAIL_FROM: 'Shop <shop@example.com>' }],
    ['DASHBOARD_URL', { DASHBOARD_URL: 'https://other.example.com' }],
  ] as const) {
    const problems = problemsOf({ ...good, ...mail, ...changes })
    expect(problems, JSON.stringify(changes)).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name}: expected`))
    expect(problems[0]).not.toContain('pass%40word')
  }
})
