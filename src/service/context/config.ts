import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { parseAmount } from '#contract/amount.ts'
import { NetworkConfig } from '#contract/network-config.ts'
import type { Network } from '#contract/network.ts'
import { refuseUrl } from '#egress/public-address.ts'
import type { InternalPort } from '#http/internal-server.ts'
import { DATABASE_VARIABLES, toDatabaseTarget, type DatabaseTarget } from '#postgres/open.ts'
import type { SignerPlace } from '#signer/client.ts'
import { SIGNER_VARIABLES } from '#signer/config.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export type ServiceConfig = {
  host: string
  /** 0 picks a free port. */
  port: number
  /** Metrics and the checks of readiness are served here; nowhere when unset. */
  internal?: InternalPort
  /**
   * Proxies of the operator in front of this program whose `X-Forwarded-For` entry is trusted; 0
   * trusts none.
   */
  trustedProxyHops: number
  /** Concurrent connections, in total and per address; the server's own caps apply when unset. */
  maxConnections?: number
  maxConnectionsPerAddress?: number
  database: DatabaseTarget
  networks: Network[]
  logLevel: (typeof LOG_LEVELS)[number]
  /** What holds the keys of managed wallets. */
  signer: SignerPlace
  /** Vault keys that are lost: what they sealed stays closed, and another key may seal. */
  lostVaultKeys?: readonly string[] | undefined
  /** Facilitators that a seller may have verify a payment; none when unset. */
  facilitators?: FacilitatorPolicy
  /** Where callers reach this service, as shown to wallets. Its own address when unset. */
  publicUrl?: string
  /** Whether webhooks may go to `http://127.0.0.1`. */
  webhookLoopback?: boolean
  /** Wallets that the operator registers at startup, and their accounts; none when unset. */
  payoutWallets?: readonly PayoutWallet[]
}

export type PayoutWallet = { accountId: string; address: string }

/** Decimal amounts of the native currency of each network, in 24 hours. */
export const DAILY_FEES = { wallet: '1', account: '0.25', keyless: '0.05' } as const

export type FacilitatorPolicy = {
  /** Base URLs. */
  allowed: readonly string[]
  /** Whether one on `http://127.0.0.1` is allowed. */
  loopback: boolean
  /**
   * Managed wallets that pay the network fee for what this service settles as a facilitator; none
   * when unset.
   */
  wallets?: readonly string[]
  /** Whether anybody may have a payment settled, without a key. */
  public?: boolean
  /** The most that settlements may cost; `DAILY_FEES` when unset. */
  dailyFees?: Readonly<Record<keyof typeof DAILY_FEES, string>>
}

export type ServiceEnv = Readonly<Record<string, string | undefined>>

export class ServiceConfigError extends Error {
  override name = 'ServiceConfigError'
}

/** The environment, with the content of the file that `NETWORKS_FILE` names. */
export function readEnv(env: ServiceEnv): ServiceEnv {
  const file = env.NETWORKS_FILE
  if (!file || env.NETWORKS) return env
  try {
    return { ...env, NETWORKS: readFileSync(file, 'utf8') }
  } catch (error) {
    throw new ServiceConfigError(
      `NETWORKS_FILE: expected a file that can be read, received ${JSON.stringify(file)}.`,
      { cause: error },
    )
  }
}

const networksText = v.pipe(
  v.string(),
  v.parseJson(undefined, 'Expected JSON.'),
  v.array(NetworkConfig),
  v.minLength(1, 'Expected at least one network.'),
)

/** No more decimals than any native currency has: SOL has 9. */
const nativeAmount = v.pipe(
  v.string(),
  v.check((text) => parseAmount(text, 9).ok),
)
const connectionCount = v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,5}$/), v.transform(Number))
/** `acc_…:<address>`. */
const payoutWallet = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }): PayoutWallet => {
    const [, accountId, text = ''] =
      /^(acc_[1-9A-HJ-NP-Za-km-z]{22}):(.+)$/.exec(dataset.value) ?? []
    const parsed = parseAddress(text)
    if (accountId !== undefined && parsed.ok) return { accountId, address: parsed.address }
    const checksum =
      !parsed.ok && parsed.problem === 'bad_checksum' ? ' with a right EIP-55 checksum' : ''
    addIssue({
      message: `Expected acc_…:<address>${checksum}, received ${JSON.stringify(dataset.value)}.`,
    })
    return NEVER
  }),
)

const payoutWallets = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((entry) => entry.trim())),
  v.array(payoutWallet),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const wallets = dataset.value
    for (const [key, value] of wallets.entries()) {
      const other = wallets
        .slice(0, key)
        .find(
          ({ address, accountId }) => address === value.address && accountId !== value.accountId,
        )
      if (!other) continue
      const message = `Expected one account for ${value.address}, received ${other.accountId} and ${value.accountId}.`
      addIssue({ message, path: [{ type: 'array', origin: 'value', input: wallets, key, value }] })
    }
  }),
)

/** One row per variable: what it must be, an example, and how it is read. */
const variables = {
  HOST: {
    schema: v.optional(v.pipe(v.string(), v.nonEmpty()), '127.0.0.1'),
    expected: 'an address to listen on',
    example: '127.0.0.1',
  },
  PORT: {
    schema: v.optional(
      v.pipe(v.string(), v.regex(/^[0-9]{1,5}$/), v.transform(Number), v.maxValue(65_535)),
      '4020',
    ),
    expected: 'a port, 0 for a free one',
    example: '4020',
  },
  INTERNAL_HOST: {
    schema: v.optional(v.pipe(v.string(), v.nonEmpty()), '127.0.0.1'),
    expected: 'an address of your own network to serve metrics and readiness on',
    example: '127.0.0.1',
  },
  INTERNAL_PORT: {
    schema: v.optional(
      v.pipe(v.string(), v.regex(/^[0-9]{1,5}$/), v.transform(Number), v.maxValue(65_535)),
    ),
    expected: 'a port for metrics and readiness, 0 for a free one',
    example: '9464',
  },
  DATABASE_URL: {
    schema: v.optional(v.pipe(v.string(), v.regex(/^postgres(ql)?:\/\//), v.url())),
    expected: 'the URL of a Postgres server',
    example: 'postgres://paydesk@localhost/paydesk',
  },
  MIGRATION_DATABASE_URL: {
    schema: v.optional(v.pipe(v.string(), v.regex(/^postgres(ql)?:\/\//), v.url())),
    expected: 'the URL of the same database as the role that owns its tables',
    example: 'postgres://paydesk_owner@localhost/paydesk',
  },
  DIRECT_DATABASE_URL: {
    schema: v.optional(v.pipe(v.string(), v.regex(/^postgres(ql)?:\/\//), v.url())),
    expected: 'the URL of the same database and role as DATABASE_URL, without a connection pooler',
    example: 'postgres://paydesk@localhost:5432/paydesk',
  },
  DATA_DIR: {
    schema: v.optional(v.pipe(v.string(), v.nonEmpty()), '.paydesk/service'),
    expected: 'a folder of this process alone',
    example: '.paydesk/service',
  },
  NETWORKS: {
    schema: networksText,
    expected: 'a JSON array of networks (or their file in NETWORKS_FILE)',
    example:
      '[{"network":"eip155:8453","name":"Base","rpcUrls":["https://mainnet.base.org"],"testnet":false,"blockTimeMs":2000,"confirmations":10,' +
      '"assets":[{"address":"0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE","symbol":"ETH","name":"Ether","decimals":18,"native":true}]}]',
  },
  FACILITATOR_ALLOWLIST: {
    schema: v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => text.split(',').map((url) => url.trim())),
        v.array(v.pipe(v.string(), v.url(), v.regex(/^https?:\/\//))),
      ),
    ),
    expected: 'URLs of facilitators, with commas',
    example: 'https://x402.org/facilitator',
  },
  FACILITATOR_LOOPBACK: {
    schema: v.optional(v.literal('1')),
    expected: '1 to allow a facilitator on http://127.0.0.1',
    example: '1',
  },
  FACILITATOR_WALLETS: {
    schema: v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => text.split(',').map((part) => part.trim())),
        v.array(
          v.pipe(
            v.string(),
            v.check((text) => parseAddress(text).ok, 'Expected an address.'),
            v.transform(normalAddress),
          ),
        ),
      ),
    ),
    expected: 'addresses of managed wallets that pay the network for settlements, with commas',
    example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  },
  FACILITATOR_PUBLIC: {
    schema: v.optional(v.literal('true')),
    expected: 'true to settle for anybody, without a key',
    example: 'true',
  },
  FACILITATOR_WALLET_DAILY_FEES: {
    schema: v.optional(nativeAmount, DAILY_FEES.wallet),
    expected: 'an amount of native currency: the most network fees of one wallet in 24 hours',
    example: DAILY_FEES.wallet,
  },
  FACILITATOR_ACCOUNT_DAILY_FEES: {
    schema: v.optional(nativeAmount, DAILY_FEES.account),
    expected: 'an amount of native currency: the most network fees for one account in 24 hours',
    example: DAILY_FEES.account,
  },
  FACILITATOR_KEYLESS_DAILY_FEES: {
    schema: v.optional(nativeAmount, DAILY_FEES.keyless),
    expected:
      'an amount of native currency: the most network fees for all callers without a key in 24 hours',
    example: DAILY_FEES.keyless,
  },
  WEBHOOK_LOOPBACK: {
    schema: v.optional(v.literal('1')),
    expected: '1 to allow webhooks to http://127.0.0.1',
    example: '1',
  },
  TRUSTED_PROXY_HOPS: {
    schema: v.optional(v.pipe(v.string(), v.regex(/^[0-9]$/), v.transform(Number)), '0'),
    expected: 'how many of your own proxies are in front, 0 to 9',
    example: '1',
  },
  MAX_CONNECTIONS: {
    schema: v.optional(connectionCount),
    expected: 'how many connections may be open at once',
    example: '3000',
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    schema: v.optional(connectionCount),
    expected: 'how many connections one address may have open at once',
    example: '256',
  },
  PUBLIC_SERVICE_URL: {
    schema: v.optional(v.pipe(v.string(), v.url(), v.regex(/^https?:\/\//))),
    expected: 'the http(s) address at which callers reach this service',
    example: 'https://payments.example.com',
  },
  LOST_VAULT_KEYS: {
    schema: v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => text.split(',')),
        v.array(v.pipe(v.string(), v.nonEmpty())),
      ),
    ),
    expected: 'the ids of vault keys that are lost, with commas',
    example: '0123456789abcdef',
  },
  PAYOUT_WALLETS: {
    schema: v.optional(payoutWallets),
    expected: 'accounts and the wallets they own, with commas',
    example: 'acc_3RfVbGtYhNmJuKiLoPqAzW:0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  },
  LOG_LEVEL: {
    schema: v.optional(v.picklist(LOG_LEVELS), 'info'),
    expected: `one of ${LOG_LEVELS.join(', ')}`,
    example: 'info',
  },
} as const satisfies Record<string, { schema: v.GenericSchema; expected: string; example: string }>

type VariableName = keyof typeof variables
type Values<N extends VariableName> = { [K in N]: v.InferOutput<(typeof variables)[K]['schema']> }

/**
 * The service's configuration from its environment.
 * @throws ServiceConfigError that names every problem at once; values that may hold a password are not
 * repeated
 */
export function toConfig(env: ServiceEnv): ServiceConfig {
  const signer = readSignerPlace(env)
  const values = readVariables(env, [
    'HOST',
    'PORT',
    'INTERNAL_HOST',
    'INTERNAL_PORT',
    'DATABASE_URL',
    'MIGRATION_DATABASE_URL',
    'DIRECT_DATABASE_URL',
    'DATA_DIR',
    'NETWORKS',
    'LOG_LEVEL',
    'FACILITATOR_ALLOWLIST',
    'FACILITATOR_LOOPBACK',
    'FACILITATOR_WALLETS',
    'FACILITATOR_PUBLIC',
    'FACILITATOR_WALLET_DAILY_FEES',
    'FACILITATOR_ACCOUNT_DAILY_FEES',
    'FACILITATOR_KEYLESS_DAILY_FEES',
    'WEBHOOK_LOOPBACK',
    'TRUSTED_PROXY_HOPS',
    'MAX_CONNECTIONS',
    'MAX_CONNECTIONS_PER_ADDRESS',
    'PUBLIC_SERVICE_URL',
    'PAYOUT_WALLETS',
    'LOST_VAULT_KEYS',
  ])
  return {
    host: values.HOST,
    port: values.PORT,
    ...(values.INTERNAL_PORT !== undefined && {
      internal: { host: values.INTERNAL_HOST, port: values.INTERNAL_PORT },
    }),
    trustedProxyHops: values.TRUSTED_PROXY_HOPS,
    maxConnections: values.MAX_CONNECTIONS,
    maxConnectionsPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    database: toTarget(values),
    networks: values.NETWORKS,
    logLevel: values.LOG_LEVEL,
    signer,
    facilitators: toFacilitators(values),
    publicUrl: values.PUBLIC_SERVICE_URL,
    webhookLoopback: values.WEBHOOK_LOOPBACK === '1',
    payoutWallets: values.PAYOUT_WALLETS,
    lostVaultKeys: values.LOST_VAULT_KEYS,
  }
}

function toFacilitators(
  values: Values<
    | 'FACILITATOR_ALLOWLIST'
    | 'FACILITATOR_LOOPBACK'
    | 'FACILITATOR_WALLETS'
    | 'FACILITATOR_PUBLIC'
    | 'FACILITATOR_WALLET_DAILY_FEES'
    | 'FACILITATOR_ACCOUNT_DAILY_FEES'
    | 'FACILITATOR_KEYLESS_DAILY_FEES'
  >,
): FacilitatorPolicy {
  const { FACILITATOR_ALLOWLIST: allowed = [], FACILITATOR_WALLETS: wallets = [] } = values
  const loopback = values.FACILITATOR_LOOPBACK === '1'
  checkReachable(allowed, loopback)
  const open = values.FACILITATOR_PUBLIC === 'true'
  // Settlements without a key are recorded for the account whose wallet pays for them.
  if (open && wallets.length === 0)
    throw new ServiceConfigError(
      'FACILITATOR_PUBLIC: expected FACILITATOR_WALLETS with it, which pay the network.',
    )
  const dailyFees = {
    wallet: values.FACILITATOR_WALLET_DAILY_FEES,
    account: values.FACILITATOR_ACCOUNT_DAILY_FEES,
    keyless: values.FACILITATOR_KEYLESS_DAILY_FEES,
  }
  return { allowed, loopback, wallets, public: open, dailyFees }
}

/**
 * A facilitator that the egress rule refuses would be listed but never asked.
 * @throws ServiceConfigError
 */
function checkReachable(urls: readonly string[], loopback: boolean): void {
  const problems = urls.flatMap((url) => {
    const refused = refuseUrl(new URL(url), loopback)
    const hint =
      !loopback && refuseUrl(new URL(url), true) === undefined
        ? ' FACILITATOR_LOOPBACK=1 allows http://127.0.0.1.'
        : ''
    return refused === undefined
      ? []
      : [`FACILITATOR_ALLOWLIST: our egress rule refuses ${new URL(url).origin}. ${refused}${hint}`]
  })
  if (problems.length > 0) throw new ServiceConfigError(problems.join('\n'))
}

function normalAddress(text: string): string {
  const parsed = parseAddress(text)
  return parsed.ok ? parsed.address : text
}

/**
 * The service's database alone, for programs that only work on its rows.
 * @throws ServiceConfigError
 */
export function readDatabase(env: ServiceEnv): DatabaseTarget {
  return toTarget(readVariables(env, DATABASE_VARIABLES))
}

/**
 * The networks of the service; undefined where the environment names none, as beside its database alone.
 * @throws ServiceConfigError
 */
export function readNetworks(env: ServiceEnv): Network[] | undefined {
  const { NETWORKS } = readEnv(env)
  return NETWORKS ? readVariables({ NETWORKS }, ['NETWORKS']).NETWORKS : undefined
}

/**
 * Where the signer is: a process that runs already, or one that this program starts with the variables of the signer and of AWS.
 * @throws ServiceConfigError for variables of a signer that another user runs
 */
export function readSignerPlace(env: ServiceEnv): SignerPlace {
  const { SIGNER_SOCKET: socket } = env
  const own = SIGNER_VARIABLES.filter((name) => name !== 'DATA_DIR' && name !== 'SIGNER_SOCKET')
  const [other] = own.filter((name) => env[name])
  if (socket && other !== undefined)
    throw new ServiceConfigError(
      `SIGNER_SOCKET, ${other}: expected one of the two, received both. The signer at this socket has its own environment.`,
    )
  if (socket) return { socket }
  const passed = Object.entries(env).filter(
    ([name]) => SIGNER_VARIABLES.some((known) => known === name) || PASSED.test(name),
  )
  return { env: Object.fromEntries(passed) }
}

/** What the client of AWS KMS reads, and Node's own. */
const PASSED = /^(AWS_.*|HOME|NODE_EXTRA_CA_CERTS|TZ)$/

const toTarget = (values: Parameters<typeof toDatabaseTarget>[0]): DatabaseTarget =>
  toDatabaseTarget(values, 'service', (message) => new ServiceConfigError(message))

function readVariables<N extends VariableName>(env: ServiceEnv, names: readonly N[]): Values<N> {
  const problems: string[] = []
  const values: Partial<Record<VariableName, unknown>> = {}
  for (const name of names) {
    const { schema, expected, example } = variables[name]
    // An empty variable counts as unset.
    const result = v.safeParse(schema, env[name] || undefined)
    if (result.success) values[name] = result.output
    else {
      const places = result.issues.flatMap((issue) => {
        const place = v.getDotPath(issue)
        return place === null ? [] : [`at ${place}: ${issue.message}`]
      })
      problems.push(
        `${name}: expected ${expected}${places.length > 0 ? `; ${places.join(' ')}` : '.'} Example: ${name}=${example}`,
      )
    }
  }
  if (problems.length > 0)
    throw new ServiceConfigError(`The configuration is not valid.\n${problems.join('\n')}`)
  return values as Values<N>
}
