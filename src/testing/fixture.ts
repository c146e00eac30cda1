import { eq } from 'drizzle-orm'
import { createBff, type Overrides, type RunningBff } from '#bff/bff.ts'
import type { BffConfig } from '#bff/config/config.ts'
import type { Plan, Scope } from '#contract/api-key-body.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET, type Network } from '#contract/network.ts'
import { createPaymentId, type PaymentStatus } from '#contract/payment.ts'
import { freePort } from '#devnet/options.ts'
import { payment } from '#service/db/schema/payment.ts'
import type { ServiceConfig } from '#service/context/config.ts'
import { recordEvent } from '#service/db/record-event.ts'
import { createService, type RunningService } from '#service/service.ts'
import { TestBrowser } from './test-browser.ts'
import { openTestSigner } from './test-signer.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { createTestKey, insertTestPayment } from './service-app.ts'
import { registerPayee } from './service-context.ts'

export const ORIGIN = 'http://localhost:4173'

/**
 * Chains without a running RPC endpoint: Paydesk works without them, as long as no transaction is
 * built.
 */
const offline = {
  rpcUrls: ['http://127.0.0.1:9'],
  publicRpcUrls: ['http://127.0.0.1:9'],
  testnet: true,
  blockTimeMs: 60_000,
  confirmations: 2,
}
export const OFFLINE_NETWORKS: Network[] = [
  { ...offline, network: 'eip155:31337', name: 'Local Ethereum', assets: [NATIVE_ETH] },
  { ...offline, network: SOLANA_DEVNET, name: 'Local Solana', assets: [NATIVE_SOL] },
]

type Both<T> = { service: T; bff: T }

type Options = {
  networks?: Network[]
  plan?: Plan
  scopes?: readonly Scope[]
  bff?: Partial<BffConfig>
  service?: Partial<ServiceConfig>
  overrides?: Overrides
}

/**
 * A complete Paydesk for tests: the real service behind the real proxy, each with a separate
 * database that survives a restart.
 */
export class Fixture {
  service!: RunningService
  bff!: RunningBff
  key = ''
  accountId = ''
  /** Every line the proxy logged. */
  readonly log: string[] = []
  readonly #options: Options
  /** In this process, so that each test file need not start one. */
  readonly signer = openTestSigner()
  /** The same after a restart, and not taken by others in between. */
  readonly #ports: Both<number>
  readonly #databases: Both<TestDatabase>

  private constructor(
    options: Options,
    { ports, databases }: { ports: Both<number>; databases: Both<TestDatabase> },
  ) {
    this.#options = options
    this.#ports = ports
    this.#databases = databases
  }

  static async open(options: Options = {}): Promise<Fixture> {
    const databases = {
      service: await createTestDatabase('postgres', 'service'),
      bff: await createTestDatabase('postgres', 'bff'),
    }
    const fixture = new Fixture(options, {
      ports: { service: await freePort(), bff: await freePort() },
      databases,
    })
    await fixture.startService()
    const made = await createTestKey(fixture.service.context.db, {
      plan: options.plan,
      scopes: options.scopes,
    })
    fixture.key = made.key
    fixture.accountId = made.accountId
    await fixture.startBff()
    return fixture
  }

  get networks(): Network[] {
    return this.#options.networks ?? OFFLINE_NETWORKS
  }

  async startService(): Promise<void> {
    this.service = await createService(
      {
        host: '127.0.0.1',
        port: this.#ports.service,
        database: this.#databases.service.target,
        networks: this.networks,
        logLevel: 'silent',
        signer: { socket: 'unused' },
        trustedProxyHops: 0,
        ...this.#options.service,
      },
      { signer: this.signer },
    )
  }

  async startBff(changes: Partial<BffConfig> = {}): Promise<void> {
    const config: BffConfig = {
      host: '127.0.0.1',
      port: this.#ports.bff,
      serviceUrl: `http://127.0.0.1:${this.#ports.service}`,
      serviceApiKey: this.key,
      database: this.#databases.bff.target,
      networks: this.networks,
      allowedOrigins: [ORIGIN],
      sellerWallets: [],
      operatorWallets: [],
      title: 'Test shop',
      publicServiceUrl: null,
      relay: { audience: 'everyone', loopback: true },
      examples: [],
      walletConnect: null,
      hosted: [],
      rates: [],
      timeZone: 'UTC',
      trustedProxyHops: 0,
      logLevel: 'debug',
      ...this.#options.bff,
      ...changes,
    }
    this.bff = await createBff(config, {
      logTo: { write: (line: string) => void this.log.push(line) },
      ...this.#options.overrides,
    })
  }

  stopService(): Promise<void> {
    return this.service[Symbol.asyncDispose]()
  }

  stopBff(): Promise<void> {
    return this.bff[Symbol.asyncDispose]()
  }

  browser(origin = ORIGIN): TestBrowser {
    return new TestBrowser(() => this.bff.url, origin)
  }

  /** Makes the account the owner of a wallet. */
  registerPayee(address: string): Promise<void> {
    return registerPayee(this.service.context, this.accountId, address)
  }

  /** A payment of the account, as if it had been built, with its first event. */
  async createPayment(facts: {
    sender?: string
    recipient?: string
    draft?: boolean
  }): Promise<string> {
    const id = createPaymentId()
    await insertTestPayment(this.service.context.db, { id, accountId: this.accountId, ...facts })
    await this.move(id, 'created')
    return id
  }

  /** Moves a payment as a watcher does: state and event in one transaction. */
  async move(paymentId: string, status: PaymentStatus): Promise<void> {
    await this.service.context.db.transaction(async (tx) => {
      await tx.update(payment).set({ status }).where(eq(payment.id, paymentId))
      await recordEvent(tx, {
        accountId: this.accountId,
        paymentId,
        status,
        source: 'watcher',
        blockHeight: null,
        at: new Date(),
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopBff()
    await this.stopService()
    await this.#databases.bff[Symbol.asyncDispose]()
    await this.#databases.service[Symbol.asyncDispose]()
    await this.signer[Symbol.asyncDispose]()
  }
}
