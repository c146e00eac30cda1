import type { BrowserContext } from '@playwright/test'
import { numberToHex, type Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import * as v from 'valibot'
import {
  announceEvm,
  handleEvmRequest,
  signAndBroadcast,
  readCall,
  rpc,
  type EvmApprovalRequest,
  type EvmCall,
  type EvmOwner,
} from '#devnet/demo-wallet/evm-wallet.ts'
import { ProviderError } from '#devnet/demo-wallet/owner.ts'
import { randomUuid } from '../random.ts'
import { decide, StoryWallet } from './story-wallet.ts'

const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1" fill="#e8710a"/></svg>')}`

export type EthereumWalletOptions = {
  privateKeys: readonly Hex[]
  rpcUrl: string
  chainId: number
  /** What it calls itself: some wallets of Solana are on Ethereum too, under one name. */
  name?: 'MetaMask' | 'Phantom'
}

/**
 * A wallet with real keys that behaves like MetaMask: reveals no account before it is connected,
 * sets nonce and gas itself, and fees if told to, broadcasts by itself, returns only the hash, and
 * refuses to sign without sending.
 */
export class EthereumWallet extends StoryWallet<PrivateKeyAccount> implements EvmOwner {
  /** Whether it keeps the page's fees, or sets others. */
  fees: 'keep' | 'replace' = 'keep'
  /** Whether it declares that it keeps the page's nonce, and does; it sets the nonce itself otherwise. */
  exactNonce = false
  /** Changes what is sent without telling the page. */
  mutate: ((call: EvmCall) => EvmCall) | undefined
  /** Runs after the wallet broadcast and before the page learns of it. */
  afterBroadcast: ((hash: Hex) => Promise<void>) | undefined
  /** Whether it shows all its accounts, the last one first, and signs with the one it is asked for. */
  showsAll = false
  foreignChainId: number | undefined
  readonly sent: Hex[] = []
  /** Approved transactions that the node did not take. */
  refusedByNode = 0
  /** The primary types of the typed data it signed. */
  readonly typed: string[] = []
  readonly #network: { chainId: number; rpcUrl: string }
  readonly #name: string

  constructor({ privateKeys, name = 'MetaMask', ...network }: EthereumWalletOptions) {
    super(
      'testEthereumWallet',
      privateKeys.map((key) => privateKeyToAccount(key)),
    )
    this.#network = network
    this.#name = name
  }

  /** The wallet's current chain. */
  get chainId(): number {
    return this.foreignChainId ?? this.#network.chainId
  }

  async network(): Promise<{ chainId: number; rpcUrl: string }> {
    return this.#network
  }

  async install(context: BrowserContext): Promise<void> {
    const isMetaMask = this.#name === 'MetaMask'
    const rdns = isMetaMask ? 'io.metamask' : 'app.phantom'
    const info = { uuid: randomUuid(), name: this.#name, rdns, icon: ICON }
    const announcement = JSON.stringify({ info, flags: { isMetaMask } })
    await this.installScript(context, `(${announceEvm})(${announcement}, ask)`)
  }

  /**
   * The person selects another account in the wallet; the page learns of it only when `tell` is
   * set, as some wallets delay the event.
   */
  async switchAccount(index: number, tell = true): Promise<void> {
    this.select(index)
    if (tell) await this.tell('accountsChanged', [this.address])
  }

  /**
   * Puts the wallet on another chain and makes it forget the application's, as for a person who
   * never added a local network.
   */
  forgetChain(): void {
    this.foreignChainId = 1
  }

  async addNetwork(): Promise<void> {
    await decide(this.connecting)
    this.foreignChainId = undefined
    await this.tell('chainChanged', numberToHex(this.chainId))
  }

  /**
   * The wallet locks itself or revokes its permission; the page learns of it only when `tell` is
   * set.
   */
  async lock(tell = true): Promise<void> {
    this.disconnect()
    if (tell) await this.tell('accountsChanged', [])
  }

  /** What the person signs outside of any page, with the selected account. */
  signMessage(message: string): Promise<Hex> {
    return this.selected.signMessage({ message })
  }

  override async approve(request: EvmApprovalRequest): Promise<void> {
    await super.approve(request)
    if (request.kind === 'typed_data') this.typed.push(request.data.primaryType)
  }

  amend(asked: EvmCall): EvmCall {
    const nonce = this.exactNonce ? asked.nonce : undefined
    const call = { ...asked, gas: undefined, nonce, gasPrice: undefined }
    const own = { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }
    const priced = this.fees === 'keep' ? call : { ...call, ...own }
    return this.mutate?.(priced) ?? priced
  }

  async onBroadcast(hash: Hex): Promise<void> {
    this.sent.push(hash)
    await this.afterBroadcast?.(hash)
  }

  /**
   * The person speeds up the last payment in the wallet: the same nonce and meaning, higher fees,
   * another hash.
   */
  async speedUp(): Promise<Hex> {
    const last = await rpc(this, 'eth_getTransactionByHash', [this.sent.at(-1)])
    const transaction = v.parse(v.looseObject({ input: v.string() }), last)
    const call = readCall({ ...transaction, data: transaction.input })
    const { gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = call
    const hash = await signAndBroadcast(this, this.selected, {
      ...call,
      gas,
      maxFeePerGas: maxFeePerGas * 2n,
      maxPriorityFeePerGas: maxPriorityFeePerGas * 2n,
    })
    this.sent.push(hash)
    return hash
  }

  /** The error code of an unknown chain comes wrapped, as in the mobile MetaMask. */
  protected async answer(method: string, params: unknown): Promise<unknown> {
    if (this.showsAll && method === 'eth_accounts' && (await this.account()))
      return this.addresses.toReversed()
    return handleEvmRequest(this, method, params).catch((error: unknown) => {
      if (
        method === 'eth_sendTransaction' &&
        !(error instanceof ProviderError && error.code === 4001)
      )
        this.refusedByNode++
      if (!(error instanceof ProviderError) || error.code !== 4902) throw error
      const { code, message } = error
      throw new ProviderError(-32603, message, { originalError: { code, message } })
    })
  }
}
