import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SOLANA_DEVNET } from '#contract/network.ts'
import { COMPILE_CACHE, type Folder } from './folder.ts'
import type { Keys } from './keys.ts'
import type { NodePorts } from './network.ts'
import { nodeCommand, Supervised, untilListening } from './nodes/child.ts'
import { EVM_CHAIN_ID } from './nodes/evm.ts'
import { devnetWallets } from './nodes/wallets.ts'
import { SHOWN } from './seller/catalog.ts'
import { EVM_FEEDS } from './tokens/evm.ts'

const MAINS = {
  service: '../service/main.ts',
  bff: '../bff/main.ts',
  seller: 'seller/main.ts',
} as const

/** The demo shop has little to do. */
const NEW_OBJECTS_MB = { service: 16, bff: 16, seller: 4 } as const

export type ProgramOptions = {
  name: keyof typeof MAINS
  port: number
  env: Record<string, string>
  /** Its log goes to `<name>.log` in here. */
  logDir: string
  print: (line: string) => void
}

/** One of our programs as it runs in production: its own process, configured by its environment alone. Only its memory is smaller. */
export class Program implements AsyncDisposable {
  readonly url: string
  readonly #process: Supervised
  readonly #log: WriteStream

  private constructor(child: Supervised, log: WriteStream, url: string) {
    this.#process = child
    this.#log = log
    this.url = url
  }

  static async start({ name, port, env, logDir, print }: ProgramOptions): Promise<Program> {
    await mkdir(logDir, { recursive: true })
    const log = createWriteStream(join(logDir, `${name}.log`), { flags: 'a', mode: 0o600 })
    const main = fileURLToPath(new URL(MAINS[name], import.meta.url))
    const child = await Supervised.start(
      nodeCommand({
        name,
        main,
        newObjectsMb: NEW_OBJECTS_MB[name],
        env: { ...env, ...COMPILE_CACHE, HOST: '127.0.0.1', PORT: String(port) },
      }),
      { ready: untilListening, onLine: (line) => log.write(`${line}\n`), print },
    ).catch((error: unknown) => {
      log.end()
      throw error
    })
    return new Program(child, log, `http://127.0.0.1:${port}`)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Ends the process with SIGKILL; resolves when it was started again and serves. */
  kill(): Promise<void> {
    return this.#process.kill()
  }

  /** Ends the process in order and starts it again, after `whileAway`. */
  restart(whileAway?: () => Promise<void>): Promise<void> {
    return this.#process.restart(whileAway)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop()
    await new Promise<void>((resolve) => this.#log.end(() => resolve()))
  }
}

/** The programs of the devnet, each configured by its environment as in production. */

export type Setting = {
  folder: Folder
  ports: NodePorts
  keys: Keys
  databaseUrl: string | undefined
  relayUrl: string | undefined
  smtpUrl: string | undefined
  shop: boolean
  print: (line: string) => void
}

export const vaultKeyFile = (folder: Folder) => folder.in('service', 'vault.key')

/** Where buyers reach the demo shop; spelled as the relay of the proxy allows it. */
export const shopUrl = (ports: NodePorts) => `http://127.0.0.1:${ports.seller}`

/** Where callers other than the proxy reach the service. */
const serviceUrl = (ports: NodePorts) => `http://localhost:${ports.service}`

export function startService({
  folder,
  ports,
  keys,
  databaseUrl,
  print,
}: Setting): Promise<Program> {
  const { facilitator, seller } = devnetWallets()
  const env = {
    ...database(folder, 'service', databaseUrl),
    NETWORKS_FILE: folder.in('networks.json'),
    VAULT_KEY_FILE: vaultKeyFile(folder),
    FACILITATOR_WALLETS: `${facilitator.evm.address},${facilitator.solana.address}`,
    PAYOUT_WALLETS: `${keys.accountId}:${seller.evm.address},${keys.accountId}:${seller.solana.address}`,
    PUBLIC_SERVICE_URL: serviceUrl(ports),
    WEBHOOK_LOOPBACK: '1',
  }
  return Program.start({
    name: 'service',
    port: ports.service,
    env,
    logDir: folder.in('logs'),
    print,
  })
}

export function startBff({
  folder,
  ports,
  keys,
  databaseUrl,
  relayUrl,
  smtpUrl,
  shop,
  print,
}: Setting): Promise<Program> {
  const { seller } = devnetWallets()
  const sellerWallets = `${seller.evm.address},${seller.solana.address}`
  const env = {
    ...database(folder, 'bff', databaseUrl),
    SERVICE_URL: `http://127.0.0.1:${ports.service}`,
    SERVICE_API_KEY: keys.proxy,
    NETWORKS_FILE: folder.in('networks.json'),
    ALLOWED_ORIGINS: `http://localhost:${ports.web},http://127.0.0.1:${ports.web}`,
    SELLER_WALLETS: sellerWallets,
    OPERATOR_WALLETS: sellerWallets,
    HOSTED_SENDS: JSON.stringify(payouts()),
    RATES: JSON.stringify(rates()),
    PUBLIC_SERVICE_URL: serviceUrl(ports),
    PUBLIC_URL: `http://localhost:${ports.bff}`,
    SOURCE_KEY_FILE: folder.in('bff', 'source.key'),
    SOURCE_LOOPBACK: '1',
    TITLE: 'Paydesk',
    ...(relayUrl && {
      WALLETCONNECT_PROJECT_ID: '0'.repeat(32),
      WALLETCONNECT_RELAY_URL: relayUrl,
    }),
    ...(smtpUrl && { SMTP_URL: smtpUrl, MAIL_FROM: 'mail@paydesk.example' }),
    RELAY: 'everyone',
    RELAY_LOOPBACK: '1',
    EXAMPLES: JSON.stringify(
      shop
        ? SHOWN.map(({ path, ...example }) => ({ ...example, url: `${shopUrl(ports)}${path}` }))
        : [],
    ),
  }
  return Program.start({ name: 'bff', port: ports.bff, env, logDir: folder.in('logs'), print })
}

/** The seller may pay from the wallet the service signs with, in both native currencies. */
function payouts() {
  const { managed } = devnetWallets()
  const caps = { name: 'Payouts', asset: 'native', maxPerPayment: '1', maxPerDay: '5' }
  return [
    { ...caps, wallet: managed.evm.address, network: `eip155:${EVM_CHAIN_ID}` },
    { ...caps, wallet: managed.solana.address, network: SOLANA_DEVNET },
  ]
}

/** From the price feeds of the local EVM chain; WETH is worth what ETH is. */
function rates() {
  const network = `eip155:${EVM_CHAIN_ID}`
  const pair = (asset: string, { address }: { address: string }) => ({
    asset,
    currency: 'USD',
    sources: [{ kind: 'chainlink', network, address, maxAgeSeconds: 86_400 }],
  })
  return [
    ...Object.entries(EVM_FEEDS).map(([asset, feed]) => pair(asset, feed)),
    pair('WETH', EVM_FEEDS.ETH),
  ]
}

export function startSeller({ folder, ports, keys, print }: Setting): Promise<Program> {
  const { seller } = devnetWallets()
  const env = {
    URL: shopUrl(ports),
    WEB_URL: `http://localhost:${ports.web}`,
    SERVICE_URL: `http://127.0.0.1:${ports.service}`,
    SERVICE_API_KEY: keys.seller,
    NETWORKS_FILE: folder.in('networks.json'),
    PAY_TO_EVM: seller.evm.address,
    PAY_TO_SOLANA: seller.solana.address,
  }
  return Program.start({
    name: 'seller',
    port: ports.seller,
    env,
    logDir: folder.in('logs'),
    print,
  })
}

function database(folder: Folder, name: string, url: string | undefined): Record<string, string> {
  return url ? { DATABASE_URL: url } : { DATA_DIR: folder.in(name) }
}
