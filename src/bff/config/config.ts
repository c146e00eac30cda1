import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { TimeZone } from '#contract/invoice.ts'
import { NetworkConfig } from '#contract/network-config.ts'
import type { Network } from '#contract/network.ts'
import { Example, RELAY_AUDIENCES, type RelayAudience } from '#contract/dashboard-endpoints.ts'
import type { InternalPort } from '#http/internal-server.ts'
import { DATABASE_VARIABLES, toDatabaseTarget, type DatabaseTarget } from '#postgres/open.ts'
import { brandVariables, type Brand } from './brand.ts'
import { toFilesConfig, type FilesConfig } from './files-config.ts'
import { HostedRuleText, readRules, type HostedRule } from './hosted-rules.ts'
import { isSender, isSmtpUrl, mailProblems, toMailConfig, type MailConfig } from './mail-config.ts'
import { RateRule, rateProblems } from './rate-rules.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export type BffConfig = Brand & {
  host: string
  /** 0 takes a free port. */
  port: number
  /** Metrics and the checks of readiness are served here; nowhere when unset. */
  internal?: InternalPort
  /** The payment service, without a slash at the end. Every request upstream starts with it. */
  serviceUrl: string
  /** The only secret of this program. It is sent to `serviceUrl` and nowhere else. */
  serviceApiKey: string
  database: DatabaseTarget
  networks: Network[]
  /** Origins the web app is served from, exactly as browsers write them. */
  allowedOrigins: string[]
  /** Normal form. An anonymous checkout pays only these. */
  sellerWallets: string[]
  /** Normal form. A session that proves one of these wallets sees the whole account. */
  operatorWallets: string[]
  title: string
  /**
   * Where sellers' own servers reach the service, without a trailing slash. Shown in the dashboard.
   */
  publicServiceUrl: string | null
  /** `loopback`: `http://127.0.0.1` is allowed too, for a trial on one machine. */
  relay: { audience: RelayAudience; loopback: boolean }
  examples: Example[]
  /** Passed to the dashboard, which reaches wallets on other devices through WalletConnect. */
  walletConnect: { projectId: string; relayUrl: string | null } | null
  /**
   * The managed wallets that operators may pay from, with their limits. Empty: no such payments.
   */
  hosted: HostedRule[]
  /** Unset: no files are sold. */
  files?: FilesConfig
  /** Unset: no e-mails are sent. */
  mail?: MailConfig
  /** Where the rates of prices in fiat are read. Empty: links have no such prices. */
  rates: RateRule[]
  /** IANA. Its days date invoices, and end the day on which one is due. */
  timeZone: string
  /** Proxies in front of this program whose `X-Forwarded-For` entry is trusted; 0 trusts none. */
  trustedProxyHops: number
  /** Open connections at once, in total and per address. Unset: the server's own caps apply. */
  maxConnections?: number
  maxConnectionsPerAddress?: number
  logLevel: (typeof LOG_LEVELS)[number]
}

export type ProxyEnv = Readonly<Record<string, string | undefined>>

export class ProxyConfigError extends Error {
  override name = 'ProxyConfigError'
}

/** @throws ProxyConfigError that names these problems, if there are any */
function refuse(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new ProxyConfigError(`The configuration is not valid.\n${problems.join('\n')}`)
}

const FILES = [
  ['NETWORKS', 'NETWORKS_FILE'],
  ['SERVICE_API_KEY', 'SERVICE_API_KEY_FILE'],
  ['SMTP_URL', 'SMTP_URL_FILE'],
] as const

/**
 * The environment, with the contents of the files that `NETWORKS_FILE`, `SERVICE_API_KEY_FILE` and
 * `SMTP_URL_FILE` name.
 * @throws ProxyConfigError that names every file that cannot be read
 */
export function readEnv(env: ProxyEnv): ProxyEnv {
  const read: Record<string, string | undefined> = { ...env }
  const problems: string[] = []
  for (const [name, fileName] of FILES) {
    const file = env[fileName]
    if (!file || env[name]) continue
    try {
      read[name] = readFileSync(file, 'utf8').trim()
    } catch {
      problems.push(
        `${fileName}: expected a file that can be read, received ${JSON.stringify(file)}.`,
      )
    }
  }
  refuse(problems)
  return read
}

const wallet = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parsed = parseAddress(dataset.value)
    if (parsed.ok) return parsed.address
    addIssue({ message: `${JSON.stringify(dataset.value)} is not an address.` })
    return NEVER
  }),
)

const origin = v.pipe(
  v.string(),
  v.check(
    (text) => URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text),
    (issue) => `${JSON.stringify(issue.input)} is not an origin.`,
  ),
)

const serviceUrl = v.pipe(
  v.string(),
  v.check((text) => {
    if (!URL.canParse(text)) return false
    const { protocol, username, password, search, hash } = new URL(text)
    return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
  }),
  v.transform((text) => text.replace(/\/+$/, '')),
)

function list<S extends v.GenericSchema<string, string>>(item: S) {
  const texts = v.transform((text: string) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  return v.pipe(v.string(), texts, v.array(item))
}

const port = v.pipe(v.string(), v.regex(/^[0-9]{1,5}$/), v.transform(Number), v.maxValue(65_535))

const connectionCount = v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,5}$/), v.transform(Number))

/** One row per variable: what it must be, an example, and how it is parsed. */
const variables = {
  HOST: {
    schema: v.optional(v.string(), '127.0.0.1'),
    expected: 'an address to listen on',
    example: '127.0.0.1',
  },
  PORT: {
    schema: v.optional(port, '4021'),
    expected: 'a port, 0 for a free one',
    example: '4021',
  },
  INTERNAL_HOST: {
    schema: v.optional(v.pipe(v.string(), v.nonEmpty()), '127.0.0.1'),
    expected: 'an address of your own network to serve metrics and readiness on',
    example: '127.0.0.1',
  },
  INTERNAL_PORT: {
    schema: v.optional(port),
    expected: 'a port for metrics and readiness, 0 for a free one',
    example: '9465',
  },
  SERVICE_URL: {
    schema: serviceUrl,
    expected: 'the http(s) address of the payment service, without a user name or a query',
    example: 'http://127.0.0.1:4020',
  },
  SERVICE_API_KEY: {
    schema: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{16,512}$/)),
    expected:
      'an API key of the payment service, 16 to 512 visible characters (or its file in SERVICE_API_KEY_FILE)',
    example: 'pk_live_…',
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
    schema: v.optional(v.string(), '.paydesk/bff'),
    expected: 'a folder of this process alone',
    example: '.paydesk/bff',
  },
  NETWORKS: {
    schema: v.pipe(
      v.string(),
      v.parseJson(undefined, 'Expected JSON.'),
      v.array(NetworkConfig),
      v.minLength(1, 'Expected at least one network.'),
    ),
    expected: 'a JSON array of networks (or their file in NETWORKS_FILE)',
    example:
      '[{"network":"eip155:8453","name":"Base","rpcUrls":["https://mainnet.base.org"],"publicRpcUrls":["https://mainnet.base.org"],"testnet":false,"blockTimeMs":2000,"confirmations":10,' +
      '"assets":[{"address":"0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE","symbol":"ETH","name":"Ether","decimals":18,"native":true}]}]',
  },
  ALLOWED_ORIGINS: {
    schema: v.pipe(list(origin), v.minLength(1, 'Expected at least one origin.')),
    expected: 'the origins of the web app with commas, spelled as a browser does',
    example: 'https://pay.example.com',
  },
  SELLER_WALLETS: {
    schema: v.pipe(list(wallet), v.minLength(1, 'Expected at least one wallet.')),
    expected: "the seller's payout wallets with commas",
    example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  },
  OPERATOR_WALLETS: {
    schema: v.optional(list(wallet), ''),
    expected: 'the wallets of the operators, with commas',
    example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  },
  PUBLIC_SERVICE_URL: {
    schema: v.optional(serviceUrl),
    expected: 'the http(s) address at which sellers reach the payment service',
    example: 'https://payments.example.com',
  },
  PUBLIC_URL: {
    schema: v.optional(serviceUrl),
    expected: 'the http(s) address at which buyers reach this proxy, to sell files',
    example: 'https://pay-api.example.com',
  },
  SOURCE_KEY_FILE: {
    schema: v.optional(v.pipe(v.string(), v.nonEmpty())),
    expected:
      'a file for the key that seals the credentials of sources; it is created where none are sealed yet',
    example: '/var/lib/paydesk/source.key',
  },
  LOST_SOURCE_KEYS: {
    schema: v.optional(list(v.pipe(v.string(), v.nonEmpty())), ''),
    expected: 'the ids of keys of SOURCE_KEY_FILE that are lost, with commas',
    example: '0123456789abcdef',
  },
  SOURCE_MAX_BYTES: {
    schema: v.optional(
      v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,13}$/), v.transform(Number)),
      '5368709120',
    ),
    expected: 'the largest file that is sold, in bytes',
    example: '5368709120',
  },
  SOURCE_LOOPBACK: {
    schema: v.optional(v.literal('1')),
    expected: '1 to read sources on http://127.0.0.1 too',
    example: '1',
  },
  SMTP_URL: {
    schema: v.optional(v.pipe(v.string(), v.check(isSmtpUrl))),
    expected:
      'the smtps:// or smtp:// address of a mail server, with user name and password or without (or its file in SMTP_URL_FILE)',
    example: 'smtps://paydesk:password@smtp.example.com:465',
  },
  MAIL_FROM: {
    schema: v.optional(v.pipe(v.string(), v.check(isSender))),
    expected: 'the e-mail address that e-mails are sent from',
    example: 'payments@example.com',
  },
  DASHBOARD_URL: {
    schema: v.optional(serviceUrl),
    expected: 'the http(s) address of the dashboard, for links in e-mails',
    example: 'https://pay.example.com',
  },
  TITLE: {
    schema: v.optional(v.pipe(v.string(), v.maxLength(60)), 'Paydesk'),
    expected: 'a title of at most 60 characters',
    example: 'Paydesk',
  },
  ...brandVariables,
  RELAY: {
    schema: v.optional(v.picklist(RELAY_AUDIENCES), 'wallets'),
    expected: `who may have requests to other sites relayed, one of ${RELAY_AUDIENCES.join(', ')}`,
    example: 'wallets',
  },
  WALLETCONNECT_PROJECT_ID: {
    schema: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/))),
    expected: 'the id of a WalletConnect project, 32 hex digits',
    example: '0123456789abcdef0123456789abcdef',
  },
  WALLETCONNECT_RELAY_URL: {
    schema: v.optional(v.pipe(v.string(), v.regex(/^wss?:\/\//), v.url())),
    expected: 'the WebSocket URL of a relay in place of WalletConnect’s own',
    example: 'wss://relay.walletconnect.org',
  },
  RELAY_LOOPBACK: {
    schema: v.optional(v.literal('1')),
    expected: '1 to relay to http://127.0.0.1 too',
    example: '1',
  },
  EXAMPLES: {
    schema: v.optional(
      v.pipe(v.string(), v.parseJson(undefined, 'Expected JSON.'), v.array(Example)),
      '[]',
    ),
    expected: 'a JSON array of protected resources that the explorer offers to try',
    example:
      '[{"name":"An article","url":"https://shop.example.com/article","description":"0.01 ETH"}]',
  },
  HOSTED_SENDS: {
    schema: v.optional(
      v.pipe(v.string(), v.parseJson(undefined, 'Expected JSON.'), v.array(HostedRuleText)),
      '[]',
    ),
    expected:
      'a JSON array of the managed wallets that operators may pay from, each with its asset and its two caps',
    example:
      '[{"name":"Treasury","wallet":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","network":"eip155:8453","asset":"ETH","maxPerPayment":"0.5","maxPerDay":"2"}]',
  },
  RATES: {
    schema: v.optional(
      v.pipe(v.string(), v.parseJson(undefined, 'Expected JSON.'), v.array(RateRule)),
      '[]',
    ),
    expected: 'a JSON array of the rates that prices in fiat use, each with its sources in order',
    example:
      '[{"asset":"ETH","currency":"USD","sources":[{"kind":"chainlink","network":"eip155:8453","address":"0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70","maxAgeSeconds":3600}]}]',
  },
  TIME_ZONE: {
    schema: v.optional(TimeZone, 'UTC'),
    expected: 'the IANA name of the time zone whose days date invoices',
    example: 'Pacific/Auckland',
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
  LOG_LEVEL: {
    schema: v.optional(v.picklist(LOG_LEVELS), 'info'),
    expected: `one of ${LOG_LEVELS.join(', ')}`,
    example: 'info',
  },
} as const satisfies Record<string, { schema: v.GenericSchema; expected: string; example: string }>

type VariableName = keyof typeof variables
type Variables = { [K in keyof typeof variables]: v.InferOutput<(typeof variables)[K]['schema']> }

/**
 * Reads the proxy's configuration from its environment.
 * @throws ProxyConfigError that names every problem at once; values that may be secret are not repeated
 */
export function toConfig(env: ProxyEnv): BffConfig {
  const read = readVariables(env, Object.keys(variables) as VariableName[])
  const hosted = readRules(read.HOSTED_SENDS, read.NETWORKS)
  refuse(hosted.problems.map((problem) => `HOSTED_SENDS: ${problem}`))
  refuse(rateProblems(read.RATES, read.NETWORKS).map((problem) => `RATES: ${problem}`))
  refuse(mailProblems(read))
  return fromVariables(read, hosted.rules)
}

/**
 * The proxy's database alone, to migrate it.
 * @throws ProxyConfigError
 */
export function readDatabase(env: ProxyEnv): DatabaseTarget {
  return toTarget(readVariables(env, DATABASE_VARIABLES))
}

const toTarget = (values: Parameters<typeof toDatabaseTarget>[0]): DatabaseTarget =>
  toDatabaseTarget(values, 'proxy', (message) => new ProxyConfigError(message))

const SECRET: readonly string[] = [
  'SERVICE_API_KEY',
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'DIRECT_DATABASE_URL',
  'SERVICE_URL',
  'SMTP_URL',
]

function readVariables<N extends VariableName>(
  env: ProxyEnv,
  names: readonly N[],
): Pick<Variables, N> {
  const problems: string[] = []
  const values: Partial<Record<VariableName, unknown>> = {}
  for (const name of names) {
    const { schema, expected, example } = variables[name]
    // An empty variable counts as unset.
    const result = v.safeParse(schema, env[name] || undefined)
    if (result.success) {
      values[name] = result.output
      continue
    }
    const [issue] = result.issues
    const place = v.getDotPath(issue)
    const why =
      SECRET.includes(name) || env[name] === undefined
        ? '.'
        : `${place ? `; at ${place}` : ''}: ${issue.message}`
    problems.push(`${name}: expected ${expected}${why} Example: ${name}=${example}`)
  }
  refuse(problems)
  return values as Pick<Variables, N>
}

function fromVariables(values: Variables, hosted: HostedRule[]): BffConfig {
  const mail = toMailConfig(values)
  const files = toFilesConfig(values)
  return {
    host: values.HOST,
    port: values.PORT,
    ...(values.INTERNAL_PORT !== undefined && {
      internal: { host: values.INTERNAL_HOST, port: values.INTERNAL_PORT },
    }),
    serviceUrl: values.SERVICE_URL,
    serviceApiKey: values.SERVICE_API_KEY,
    database: toTarget(values),
    networks: values.NETWORKS,
    allowedOrigins: values.ALLOWED_ORIGINS,
    sellerWallets: values.SELLER_WALLETS,
    operatorWallets: values.OPERATOR_WALLETS,
    title: values.TITLE,
    logo: values.LOGO_FILE,
    accentColor: values.ACCENT_COLOR,
    publicServiceUrl: values.PUBLIC_SERVICE_URL ?? null,
    relay: { audience: values.RELAY, loopback: values.RELAY_LOOPBACK === '1' },
    examples: values.EXAMPLES,
    walletConnect: values.WALLETCONNECT_PROJECT_ID
      ? {
          projectId: values.WALLETCONNECT_PROJECT_ID,
          relayUrl: values.WALLETCONNECT_RELAY_URL ?? null,
        }
      : null,
    hosted,
    ...(files && { files }),
    ...(mail && { mail }),
    rates: values.RATES,
    timeZone: values.TIME_ZONE,
    trustedProxyHops: values.TRUSTED_PROXY_HOPS,
    maxConnections: values.MAX_CONNECTIONS,
    maxConnectionsPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    logLevel: values.LOG_LEVEL,
  }
}
