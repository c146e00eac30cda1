import { expect, test } from 'vitest'
import { ServiceConfigError, readDatabase, readEnv, toConfig } from './config.ts'

const NETWORKS = JSON.stringify([
  {
    network: 'eip155:8453',
    name: 'Base',
    rpcUrls: ['https://mainnet.base.org'],
    testnet: false,
    blockTimeMs: 2000,
    confirmations: 10,
    assets: [
      {
        address: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
        symbol: 'ETH',
        name: 'Ether',
        decimals: 18,
        native: true,
      },
    ],
  },
])

test('defaults need only the networks', () => {
  expect(toConfig({ NETWORKS })).toMatchObject({
    host: '127.0.0.1',
    port: 4020,
    database: { dataDir: '.paydesk/service' },
    logLevel: 'info',
    networks: [{ network: 'eip155:8453' }],
  })
})

test('DATABASE_URL takes the place of the folder', () => {
  expect(
    toConfig({ NETWORKS, DATABASE_URL: 'postgres://a:b@db/paydesk', PORT: '0' }),
  ).toMatchObject({
    port: 0,
    database: { url: 'postgres://a:b@db/paydesk' },
  })
  expect(readDatabase({ DATA_DIR: '/data' })).toEqual({ dataDir: '/data' })
})

test('MIGRATION_DATABASE_URL stands beside DATABASE_URL, and not alone', () => {
  const url = 'postgres://a:b@db/paydesk'
  const migrationUrl = 'postgres://owner:hunter2@db/paydesk'
  const alone = { MIGRATION_DATABASE_URL: migrationUrl }
  expect(readDatabase({ ...alone, DATABASE_URL: url })).toEqual({ url, migrationUrl })
  expect(() => readDatabase(alone)).toThrow(
    /^MIGRATION_DATABASE_URL: expected DATABASE_URL with it, of the role that the service runs as\.$/,
  )
  expect(() => readDatabase({ MIGRATION_DATABASE_URL: 'mysql://me:hunter2@a' })).toThrow(
    /MIGRATION_DATABASE_URL: expected the URL of the same database(?!.*hunter2)/,
  )
})

test('all problems are told at once, with name, expectation and example, without the value of a URL', () => {
  const wrong = () =>
    toConfig({
      PORT: '99999',
      DATABASE_URL: 'mysql://root:hunter2@db',
      LOG_LEVEL: 'loud',
      NETWORKS: '[{"network":"base"}]',
    })
  expect(wrong).toThrow(ServiceConfigError)
  try {
    wrong()
  } catch (error) {
    const { message } = error as ServiceConfigError
    expect(message).toMatch(/^PORT: expected a port, 0 for a free one\. Example: PORT=4020$/m)
    expect(message).toMatch(/^DATABASE_URL: expected the URL of a Postgres server\. Example: /m)
    expect(message).toMatch(/^LOG_LEVEL: expected one of fatal, /m)
    expect(message).toMatch(/^NETWORKS: expected a JSON array of networks .*; at 0\.network: /m)
    expect(message).not.toContain('hunter2')
  }
})

test('PAYOUT_WALLETS names accounts and their wallets, and every entry that is wrong', () => {
  const [one, other] = [`acc_${'1'.repeat(22)}`, `acc_${'2'.repeat(22)}`]
  const evm = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const read = (text: string) => toConfig({ NETWORKS, PAYOUT_WALLETS: text }).payoutWallets
  expect(read(`${one}:${evm.toLowerCase()}, ${other}:11111111111111111111111111111112`)).toEqual([
    { accountId: one, address: evm },
    { accountId: other, address: '11111111111111111111111111111112' },
  ])
  expect(toConfig({ NETWORKS }).payoutWallets).toBeUndefined()
  const wrong = () =>
    read(
      `${one}:${evm},acc_x:${evm},${one}:0x12,${one}:${evm.replace('c8', 'C8').replace('C7', 'c7')}`,
    )
  expect(wrong).toThrow(
    /^PAYOUT_WALLETS: expected accounts and the wallets they own, with commas; at 1: Expected acc_…:<address>, received "acc_x:/m,
  )
  expect(wrong).toThrow(
    / at 2: Expected acc_…:<address>, received "acc_1{22}:0x12"\. at 3: Expected acc_…:<address> with a right EIP-55 checksum, received /,
  )
  expect(() => read(`${one}:${evm},${other}:${evm}`)).toThrow(
    `at 1: Expected one account for ${evm}, received ${one} and ${other}.`,
  )
})

test('PUBLIC_SERVICE_URL is an http(s) address', () => {
  expect(toConfig({ NETWORKS, PUBLIC_SERVICE_URL: 'https://payments.example.com' }).publicUrl).toBe(
    'https://payments.example.com',
  )
  expect(() => toConfig({ NETWORKS, PUBLIC_SERVICE_URL: 'payments.example.com' })).toThrow(
    /PUBLIC_SERVICE_URL: expected the http\(s\) address at which callers/,
  )
})

test('a missing networks file is a problem of the configuration', () => {
  expect(() => readEnv({ NETWORKS_FILE: '/nowhere.json' })).toThrow(
    'NETWORKS_FILE: expected a file that can be read, received "/nowhere.json".',
  )
  expect(() => toConfig({})).toThrow(/NETWORKS: expected a JSON array/)
})

test('TRUSTED_PROXY_HOPS, MAX_CONNECTIONS and MAX_CONNECTIONS_PER_ADDRESS are numbers; without them no proxy is believed', () => {
  expect(toConfig({ NETWORKS })).toMatchObject({
    trustedProxyHops: 0,
    maxConnections: undefined,
    maxConnectionsPerAddress: undefined,
  })
  const set = {
    TRUSTED_PROXY_HOPS: '2',
    MAX_CONNECTIONS: '5000',
    MAX_CONNECTIONS_PER_ADDRESS: '100',
  }
  expect(toConfig({ NETWORKS, ...set })).toMatchObject({
    trustedProxyHops: 2,
    maxConnections: 5000,
    maxConnectionsPerAddress: 100,
  })
  const wrong = {
    TRUSTED_PROXY_HOPS: '10',
    MAX_CONNECTIONS: '0',
    MAX_CONNECTIONS_PER_ADDRESS: 'many',
  }
  for (const [name, value] of Object.entries(wrong))
    expect(() => toConfig({ NETWORKS, [name]: value })).toThrow(`${name}: expected how many`)
})

test('the signer gets its own variables and those of AWS, and none that only the service needs', () => {
  const env = { NETWORKS, DATA_DIR: '/data', VAULT_KEY_FILE: '/x', AWS_REGION: 'eu-central-1' }
  expect(toConfig({ ...env, DATABASE_URL: 'postgres://u:secret@db/p' }).signer).toEqual({
    env: { DATA_DIR: '/data', VAULT_KEY_FILE: '/x', AWS_REGION: 'eu-central-1' },
  })
})

test('a signer that another user runs has its own environment', () => {
  const read = (env: Record<string, string>) => toConfig({ NETWORKS, ...env }).signer
  expect(read({ SIGNER_SOCKET: '/run/s.sock' })).toEqual({ socket: '/run/s.sock' })
  expect(() => read({ SIGNER_SOCKET: '/run/s.sock', VAULT_KEY_FILE: '/x' })).toThrow(
    'SIGNER_SOCKET, VAULT_KEY_FILE: expected one of the two, received both.',
  )
})

test.each<[string, string, Record<string, string>]>([
  ['http://facilitator:3000', 'Expected https.', {}],
  ['https://x402.org:8443/facilitator', 'Expected the port 443.', {}],
  ['https://10.0.0.1/x402', 'Expected a public address.', {}],
  ['https://user:secret@x402.org', 'Expected no user name.', {}],
  ['http://127.0.0.1:24999', 'Expected https. FACILITATOR_LOOPBACK=1 allows http://127.0.0.1.', {}],
  ['http://10.0.0.1:24999', 'Expected https.', { FACILITATOR_LOOPBACK: '1' }],
])(
  'a facilitator at %s is refused at the start, since our egress rule would never ask it',
  (url, why, env) => {
    const read = () =>
      toConfig({ NETWORKS, FACILITATOR_ALLOWLIST: `https://x402.org/facilitator,${url}`, ...env })
    expect(read).toThrow(ServiceConfigError)
    expect(read).toThrow(
      `FACILITATOR_ALLOWLIST: our egress rule refuses ${new URL(url).origin}. ${why}`,
    )
  },
)

test('facilitators that can be asked are listed', () => {
  const urls = ['https://x402.org/facilitator', 'http://127.0.0.1:24999/x402']
  expect(
    toConfig({ NETWORKS, FACILITATOR_ALLOWLIST: urls.join(', '), FACILITATOR_LOOPBACK: '1' })
      .facilitators,
  ).toMatchObject({
    allowed: urls,
    loopback: true,
  })
})
