import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { filePurchase } from '#bff/db/schema.ts'
import type { FileBody } from '#contract/file-endpoints.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { Fixture } from './fixture.ts'
import { startEvm, type EvmFixture } from './local-chains.ts'
import { eventually } from './service-context.ts'
import { evmWallet, type TestBrowser } from './test-browser.ts'
import { deployTokens, type EvmTokens } from './token-payers.ts'

export const PUBLIC_URL = 'https://files.example'
export const FILE_PAGE = 'http://localhost:4173/file'

/** A merchant who sells files for tokens of a local chain, whose own wallet settles what buyers sign. */
export class FileShop {
  readonly seller = evmWallet()
  readonly evm: EvmFixture
  tokens!: EvmTokens
  fixture!: Fixture
  /** The merchant's browser, signed in. */
  browser!: TestBrowser
  /** By so many milliseconds the clock of the proxy is ahead. */
  ahead = 0
  #miner: NodeJS.Timeout | undefined
  readonly #folder = mkdtempSync(join(tmpdir(), 'paydesk-files-'))

  private constructor(evm: EvmFixture) {
    this.evm = evm
  }

  static async open({ chainId }: { chainId?: number } = {}): Promise<FileShop> {
    const evm = await startEvm({ slotsInEpoch: 4, ...(chainId !== undefined && { chainId }) })
    await using opened = new AsyncDisposableStack()
    const shop = opened.use(new FileShop(evm))
    shop.tokens = await deployTokens(evm)
    const secret = generatePrivateKey()
    const { address } = privateKeyToAccount(secret)
    await evm.client.setBalance({ address, value: 10n ** 18n })
    shop.fixture = await Fixture.open({
      plan: 'premium',
      networks: [shop.tokens.network],
      service: { facilitators: { allowed: [], loopback: true, wallets: [address] } },
      bff: {
        sellerWallets: [shop.seller.address],
        operatorWallets: [shop.seller.address],
        files: {
          publicUrl: PUBLIC_URL,
          keyFile: join(shop.#folder, 'source.key'),
          lostKeys: [],
          maxBytes: 10_000,
          loopback: true,
        },
      },
      overrides: { now: () => new Date(Date.now() + shop.ahead) },
    })
    const { context } = shop.fixture.service
    await createWallet(
      { ...context, now: new Date() },
      {
        accountId: shop.fixture.accountId,
        family: 'evm',
        name: 'Settlements',
        secret: Buffer.from(secret.slice(2), 'hex'),
      },
    )
    await shop.fixture.registerPayee(shop.seller.address)
    shop.startMining()
    opened.move()
    return shop
  }

  startMining(): void {
    this.#miner = setInterval(() => void this.evm.mine().catch(() => undefined), 100)
  }

  stopMining(): void {
    clearInterval(this.#miner)
  }

  /** Another minute, since no test is about what one address may ask in a minute, and the merchant signed in again. */
  async beginTest(): Promise<TestBrowser> {
    this.ahead += 61_000
    this.browser = this.fixture.browser()
    await this.browser.signIn({ ...this.seller, network: this.tokens.network.network })
    return this.browser
  }

  /** Puts a file on sale. */
  async create(body: Record<string, unknown>): Promise<FileBody> {
    const { status, json, text } = await this.browser.post('/api/files', {
      name: 'The guide',
      prices: [{ currency: 'USDC', amount: '1.5' }],
      page: FILE_PAGE,
      ...body,
    })
    if (status !== 200) throw new Error(text)
    return (json as unknown as { file: FileBody }).file
  }

  /** Where programs buy it. */
  addressOf({ code }: FileBody): string {
    return `${this.fixture.bff.url}/api/file/${code}`
  }

  /** The file as its merchant sees it. */
  async listed({ id }: FileBody): Promise<FileBody | undefined> {
    const { json } = await this.browser.get('/api/files')
    return (json as unknown as { files: FileBody[] }).files.find((file) => file.id === id)
  }

  /** The payments that were not delivered, as the merchant sees them. */
  async inbox(): Promise<string[]> {
    const { json } = await this.browser.get('/api/undelivered')
    return json.payments.map(({ paymentId }) => paymentId)
  }

  purchases({ id }: FileBody) {
    return this.fixture.bff.context.db
      .select()
      .from(filePurchase)
      .where(eq(filePurchase.fileId, id))
  }

  /** Resolves when somebody has received it. */
  delivered(file: FileBody) {
    return eventually(
      () => this.purchases(file),
      (rows) => rows.some(({ deliveredAt }) => deliveredAt !== null),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopMining()
    await this.fixture?.[Symbol.asyncDispose]()
    await this.evm[Symbol.asyncDispose]()
    rmSync(this.#folder, { recursive: true })
  }
}
