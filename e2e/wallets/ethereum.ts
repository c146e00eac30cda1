import type { BrowserContext, Page } from '@playwright/test'
import {
  createPublicClient,
  createWalletClient,
  http,
  isHex,
  numberToHex,
  publicActions,
  type Address,
  type Hex,
  type TransactionRequestEIP1559,
  type TypedDataDefinition,
} from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import * as v from 'valibot'
import { randomUuid } from '../random.ts'
import { decide, toReply, WalletError, type WalletReply, type WalletApproval } from './control.ts'
import { announceEthereumWallet } from './ethereum-page.ts'

const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1" fill="#e8710a"/></svg>')}`
const BINDING = 'testEthereumWallet'

const Call = v.object({
  from: v.string(),
  to: v.optional(v.string()),
  value: v.optional(v.string()),
  data: v.optional(v.string()),
  gas: v.optional(v.string()),
  maxFeePerGas: v.optional(v.string()),
  maxPriorityFeePerGas: v.optional(v.string()),
})
const Chain = v.tuple([v.object({ chainId: v.string() })])

type Transfer = Pick<TransactionRequestEIP1559, 'to' | 'value' | 'data'>

export type EthereumWalletOptions = { privateKeys: readonly Hex[]; rpcUrl: string; chainId: number }

/**
 * A wallet with real keys that behaves like MetaMask: reveals no account before it is connected,
 * sets nonce and gas itself, and fees if told to, broadcasts by itself, returns only the hash, and
 * refuses to sign without sending.
 */
export class EthereumWallet {
  connecting: WalletApproval = 'approve'
  signing: WalletApproval = 'approve'
  /** Whether it keeps the page's fees, or sets others. */
  fees: 'keep' | 'replace' = 'keep'
  /** Changes what is sent without telling the page. */
  mutate: ((transfer: Transfer) => Transfer) | undefined
  /** Runs after the wallet broadcast and before the page learns of it. */
  afterBroadcast: ((hash: Hex) => Promise<void>) | undefined
  /** Runs when the approval window opens. */
  onApproval: (() => Promise<void>) | undefined
  /** The wallet's current chain; it knows a foreign one, but not the application's. */
  chainId: number
  readonly requests: string[] = []
  readonly sent: Hex[] = []
  /** The primary types of the typed data it signed. */
  readonly typed: string[] = []
  readonly #accounts: readonly PrivateKeyAccount[]
  readonly #rpcUrl: string
  readonly #appChainId: number
  readonly #known: Set<number>
  readonly #pages = new Set<Page>()
  #selected = 0
  #connected = false

  constructor(options: EthereumWalletOptions) {
    this.#accounts = options.privateKeys.map((key) => privateKeyToAccount(key))
    this.#rpcUrl = options.rpcUrl
    this.#appChainId = options.chainId
    this.chainId = options.chainId
    this.#known = new Set([options.chainId])
  }

  get address(): Address {
    return this.#account.address
  }

  get #account(): PrivateKeyAccount {
    const account = this.#accounts[this.#selected]
    if (!account) throw new Error('The wallet has no account there.')
    return account
  }

  get #client() {
    const chain = {
      id: this.#appChainId,
      name: 'local',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [this.#rpcUrl] } },
    }
    return createWalletClient({
      account: this.#account,
      chain,
      transport: http(this.#rpcUrl),
    }).extend(publicActions)
  }

  async install(context: BrowserContext): Promise<void> {
    await context.exposeBinding(BINDING, ({ page }, method: string, params: unknown) => {
      this.#pages.add(page)
      return this.#answer(method, params)
    })
    await context.addInitScript(announceEthereumWallet, {
      binding: BINDING,
      uuid: randomUuid(),
      name: 'MetaMask',
      rdns: 'io.metamask',
      icon: ICON,
    })
  }

  /**
   * The person selects another account in the wallet; the page learns of it only when `tell` is
   * set, as some wallets delay the event.
   */
  async switchAccount(index: number, tell = true): Promise<void> {
    this.#selected = index
    if (tell) await this.#emit('accountsChanged', [this.address])
  }

  /**
   * Puts the wallet on another chain and makes it forget the application's, as for a person who
   * never added a local network.
   */
  forgetChain(): void {
    this.chainId = 1
    this.#known.clear()
    this.#known.add(1)
  }

  /**
   * The wallet locks itself or revokes its permission; the page learns of it only when `tell` is
   * set.
   */
  async lock(tell = true): Promise<void> {
    this.#connected = false
    if (tell) await this.#emit('accountsChanged', [])
  }

  /** What the person signs outside of any page, with the selected account. */
  signMessage(message: string): Promise<Hex> {
    return this.#account.signMessage({ message })
  }

  async #emit(event: string, payload: unknown): Promise<void> {
    for (const page of this.#pages) {
      if (page.isClosed()) continue
      await page.evaluate(
        ([name, type, data]) =>
          (window as unknown as Record<string, (type: unknown, data: unknown) => void>)[
            `${name}Emit`
          ]?.(type, data),
        [BINDING, event, payload] as const,
      )
    }
  }

  async #answer(method: string, params: unknown): Promise<WalletReply> {
    this.requests.push(method)
    const list = Array.isArray(params) ? params : []
    return toReply(() => this.#handle(method, list))
  }

  async #handle(method: string, params: readonly unknown[]): Promise<unknown> {
    switch (method) {
      case 'eth_accounts':
        return this.#connected ? [this.address] : []
      case 'eth_requestAccounts':
        await decide(this.connecting)
        this.#connected = true
        return [this.address]
      case 'wallet_requestPermissions':
        await decide(this.connecting)
        this.#connected = true
        return [{ parentCapability: 'eth_accounts', caveats: [] }]
      case 'wallet_getPermissions':
        return this.#connected ? [{ parentCapability: 'eth_accounts', caveats: [] }] : []
      case 'wallet_revokePermissions':
        this.#connected = false
        return null
      case 'eth_chainId':
        return numberToHex(this.chainId)
      case 'net_version':
        return String(this.chainId)
      case 'wallet_switchEthereumChain':
        return this.#switchChain(Number(v.parse(Chain, params)[0].chainId))
      case 'wallet_addEthereumChain':
        return this.#addChain(Number(v.parse(Chain, params)[0].chainId))
      case 'eth_sendTransaction':
        return this.#send(v.parse(Call, params[0]))
      case 'personal_sign':
        return this.#signMessage(v.parse(v.string(), params[0]), v.parse(v.string(), params[1]))
      case 'eth_signTypedData_v4':
        return this.#signTypedData(v.parse(v.string(), params[0]), v.parse(v.string(), params[1]))
      case 'eth_sign':
      case 'eth_signTransaction':
        throw new WalletError(4200, `The method "${method}" is not supported.`)
      default:
        return this.#read(method, params)
    }
  }

  /** The error code of an unknown chain comes wrapped, as in the mobile MetaMask. */
  async #switchChain(chainId: number): Promise<null> {
    if (!this.#known.has(chainId)) {
      const message = `Unrecognized chain ID "${numberToHex(chainId)}". Try adding the chain using wallet_addEthereumChain first.`
      throw new WalletError(-32603, message, { originalError: { code: 4902, message } })
    }
    await decide(this.connecting)
    this.chainId = chainId
    await this.#emit('chainChanged', numberToHex(chainId))
    return null
  }

  async #addChain(chainId: number): Promise<null> {
    await decide(this.connecting)
    this.#known.add(chainId)
    return this.#switchChain(chainId)
  }

  async #send(call: v.InferOutput<typeof Call>): Promise<Hex> {
    this.#requireAccount(call.from)
    await this.onApproval?.()
    await decide(this.signing)
    if (this.chainId !== this.#appChainId)
      throw new WalletError(-32603, 'The wallet is on another network.')
    const asked: Transfer = {
      to: call.to as Address | undefined,
      value: BigInt(call.value ?? 0),
      data: isHex(call.data) ? call.data : undefined,
    }
    const transfer = this.mutate?.(asked) ?? asked
    const { maxFeePerGas, maxPriorityFeePerGas } = this.fees === 'keep' ? call : {}
    const fees =
      maxFeePerGas && maxPriorityFeePerGas
        ? { maxFeePerGas: BigInt(maxFeePerGas), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) }
        : {}
    const hash = await this.#client.sendTransaction({
      to: transfer.to,
      value: transfer.value,
      data: transfer.data,
      ...fees,
    })
    this.sent.push(hash)
    await this.afterBroadcast?.(hash)
    return hash
  }

  /**
   * The person speeds up the last payment in the wallet: the same nonce and meaning, higher fees,
   * another hash.
   */
  async speedUp(): Promise<Hex> {
    const last = this.sent.at(-1)
    if (!last) throw new Error('The wallet sent nothing.')
    const { to, value, input, nonce, maxFeePerGas, maxPriorityFeePerGas } =
      await this.#client.getTransaction({ hash: last })
    const fees = {
      maxFeePerGas: (maxFeePerGas ?? 0n) * 2n,
      maxPriorityFeePerGas: (maxPriorityFeePerGas ?? 0n) * 2n,
    }
    const hash = await this.#client.sendTransaction({
      to: to ?? undefined,
      value,
      data: input,
      nonce,
      ...fees,
    })
    this.sent.push(hash)
    return hash
  }

  async #signMessage(message: string, from: string): Promise<Hex> {
    this.#requireAccount(from)
    await decide(this.signing)
    return this.#account.signMessage({ message: isHex(message) ? { raw: message } : message })
  }

  /** As in MetaMask: the domain must be of the wallet's current chain. */
  async #signTypedData(from: string, text: string): Promise<Hex> {
    this.#requireAccount(from)
    const data = parseTypedData(text)
    if (Number(data.domain?.chainId) !== this.chainId)
      throw new WalletError(
        -32603,
        `Provided chainId "${data.domain?.chainId}" must match the active chainId`,
      )
    await decide(this.signing)
    this.typed.push(data.primaryType)
    return this.#account.signTypedData(data)
  }

  #requireAccount(address: string): void {
    if (!this.#connected || address.toLowerCase() !== this.address.toLowerCase()) {
      throw new WalletError(
        4100,
        'The requested account and/or method has not been authorized by the user.',
      )
    }
  }

  async #read(method: string, params: readonly unknown[]): Promise<unknown> {
    const client = createPublicClient({ transport: http(this.#rpcUrl) })
    // The page may read anything through its wallet; the chain itself refuses unknown methods.
    return client.transport.request({ method, params })
  }
}

/** The wallet's own types are part of every request; the signed data omits them. */
function parseTypedData(text: string): TypedDataDefinition {
  const { types, ...data } = JSON.parse(text) as TypedDataDefinition & {
    types: Record<string, unknown>
  }
  return {
    ...data,
    types: Object.fromEntries(Object.entries(types).filter(([name]) => name !== 'EIP712Domain')),
  } as TypedDataDefinition
}
