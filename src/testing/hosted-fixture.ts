import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts'
import type { HostedIntent } from '#contract/hosted-intent.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import type { HostedRule } from '#bff/config/hosted-rules.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { Fixture } from './fixture.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from './test-browser.ts'
import { startEvm, type EvmFixture } from './local-chains.ts'
import { typedData } from './typed-data.ts'

export const ETH = 10n ** 18n

type HostedJson = {
  nonce: string
  amountAtomic: string
  expiresAt: number
  state: string
  paymentId: string | null
  wallets: { spentAtomic: string }[]
}

/** The contents of the hosted endpoints' answers. */
export const hostedJson = (answer: BrowserResponse) => answer.json as unknown as HostedJson
export const reasonOf = (answer: BrowserResponse) => reasonCodeOf(answer.json.error?.details)

/** A Paydesk whose operator is signed in and may pay from a managed wallet, on a bare EVM chain. */
export class HostedFixture {
  readonly account = privateKeyToAccount(generatePrivateKey())
  readonly operator = {
    address: this.account.address,
    network: 'eip155:31337',
    sign: (message: string) => this.account.signMessage({ message }),
  }
  readonly payee = evmWallet().address
  readonly evm: EvmFixture
  fixture!: Fixture
  browser!: TestBrowser
  /** The wallet that pays. */
  managed = ''
  #aheadMs = 0

  private constructor(evm: EvmFixture) {
    this.evm = evm
  }

  static async open(): Promise<HostedFixture> {
    const evm = await startEvm({ slotsInEpoch: 1 })
    await evm.mine()
    const hosted = new HostedFixture(evm)
    const { address } = hosted.operator
    hosted.fixture = await Fixture.open({
      networks: [evm.network],
      bff: { sellerWallets: [address], operatorWallets: [address] },
      overrides: { now: () => new Date(Date.now() + hosted.#aheadMs) },
    })
    hosted.browser = hosted.fixture.browser()
    await hosted.browser.signIn(hosted.operator)
    return hosted
  }

  /** Advances the proxy's clock. */
  pass(ms: number): void {
    this.#aheadMs += ms
  }

  /**
   * A managed wallet with 100 ETH that the operator may pay from, with no request in this minute
   * yet.
   */
  async openTill(): Promise<void> {
    // The limit of requests per visitor and minute is not tested here.
    this.pass(61_000)
    const { db, signer } = this.fixture.service.context
    this.managed = (
      await createWallet(
        { db, signer, now: new Date() },
        { accountId: this.fixture.accountId, family: 'evm', name: 'till' },
      )
    ).address
    await this.evm.client.setBalance({ address: this.managed as `0x${string}`, value: 100n * ETH })
    this.allow({})
  }

  allow(rule: Partial<HostedRule>): void {
    const [asset] = this.evm.network.assets
    if (!asset) throw new Error('no asset')
    const till = {
      name: 'Till',
      wallet: this.managed,
      network: this.evm.network,
      asset,
      maxPerPayment: ETH,
      maxPerDay: 3n * ETH,
    }
    this.fixture.bff.context.config.hosted = [{ ...till, ...rule }]
  }

  prepare(more: Record<string, unknown> = {}, browser = this.browser): Promise<BrowserResponse> {
    const wish = {
      network: this.evm.network.network,
      from: this.managed,
      to: this.payee,
      asset: 'native',
      amount: 0.5,
      signer: this.operator.address,
    }
    return browser.post('/api/hosted/intent', { ...wish, ...more })
  }

  /** What is to be signed, as a page builds it. */
  async prepared(
    more: Partial<Pick<HostedIntent, 'resource' | 'description' | 'reference' | 'refundOf'>> & {
      amount?: number
      priorityFee?: number
    } = {},
  ): Promise<HostedIntent> {
    const answer = await this.prepare(more)
    if (answer.status !== 200) throw new Error(answer.text)
    const { nonce, amountAtomic, expiresAt } = hostedJson(answer)
    const { resource = '', description = '', reference = '', refundOf = '' } = more
    const asset = this.evm.network.assets[0]?.address ?? ''
    const words = { resource, description, reference, refundOf }
    const priorityFee = more.priorityFee === undefined ? '' : String(more.priorityFee)
    return {
      nonce,
      network: this.evm.network.network,
      from: this.managed,
      to: this.payee,
      asset,
      symbol: 'ETH',
      decimals: 18,
      amountAtomic,
      priorityFee,
      expiresAt,
      ...words,
    }
  }

  sign(intent: HostedIntent, by = this.account): Promise<string> {
    return by.signTypedData(typedData(intent))
  }

  send(nonce: string, signature: string, browser = this.browser): Promise<BrowserResponse> {
    return browser.post('/api/hosted/send', { nonce, signature })
  }

  /** Spent of the daily limit. */
  async spent(): Promise<string | undefined> {
    return hostedJson(await this.browser.get('/api/hosted')).wallets[0]?.spentAtomic
  }

  async paidOut(): Promise<number> {
    const answer = await this.browser.get(`/api/payments?wallets=${this.managed}&type=sent`)
    return answer.json.payments.length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fixture[Symbol.asyncDispose]()
    await this.evm[Symbol.asyncDispose]()
  }
}
