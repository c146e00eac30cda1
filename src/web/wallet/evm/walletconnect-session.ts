import { SignClient } from '@walletconnect/sign-client'
import { hexToNumber, isHex, numberToHex } from 'viem'
import { checksumAddress } from '#contract/address.ts'

/**
 * What a wallet may be asked for over WalletConnect. Methods it did not grant are refused here:
 * nothing else signs for it.
 */
const METHODS = [
  'eth_sendTransaction',
  'personal_sign',
  'eth_signTypedData_v4',
  'wallet_addEthereumChain',
]
const EVENTS = ['accountsChanged', 'chainChanged']

export type WalletConnectOptions = {
  projectId: string
  /** WalletConnect's own relay by default. */
  relayUrl?: string
  /** The requesting app, as the wallet shows it. */
  asker: { name: string; url: string; icon: string }
  /** The chains a wallet may use here; the first one is the default. */
  chainIds: readonly number[]
  /** The URI that a wallet scans or opens, as soon as it exists. */
  onUri: (uri: string) => void
}

export type WalletConnectEvents = {
  accounts: (addresses: string[]) => void
  chain: (chainId: number) => void
  end: () => void
}

type Client = Awaited<ReturnType<typeof SignClient.init>>
type Session = ReturnType<Client['session']['get']>

/**
 * One remote wallet behind a relay, as an EIP-1193 provider. The relay carries encrypted messages;
 * keys stay in the wallet, which does the signing. Built on the client alone: WalletConnect's own
 * provider sends methods that the wallet did not grant to an RPC endpoint, and a node that holds
 * keys would sign.
 */
export class WalletConnectSession {
  readonly #client: Client
  readonly #options: WalletConnectOptions
  readonly #events: WalletConnectEvents
  #session: Session | undefined
  #chainId: number
  #giveUp: ((error: Error) => void) | undefined

  private constructor(client: Client, options: WalletConnectOptions, events: WalletConnectEvents) {
    this.#client = client
    this.#options = options
    this.#events = events
    this.#chainId = options.chainIds[0] ?? 1
    this.#session = client.session.getAll().findLast(({ namespaces }) => namespaces.eip155)
    client.on('session_delete', ({ topic }) => this.#ended(topic))
    client.on('session_expire', ({ topic }) => this.#ended(topic))
    client.on('session_update', ({ topic }) => {
      if (topic !== this.#session?.topic) return
      this.#session = client.session.get(topic)
      events.accounts(this.accounts())
    })
    client.on('session_event', ({ topic, params }) => {
      if (topic === this.#session?.topic) this.#heard(params.event)
    })
  }

  static async open(
    options: WalletConnectOptions,
    events: WalletConnectEvents,
  ): Promise<WalletConnectSession> {
    const { name, url, icon } = options.asker
    const client = await SignClient.init({
      projectId: options.projectId,
      ...(options.relayUrl && { relayUrl: options.relayUrl }),
      metadata: { name, description: name, url, icons: [icon] },
      logger: 'silent',
      telemetryEnabled: false,
    })
    return new WalletConnectSession(client, options, events)
  }

  /** The wallet's own name; undefined while none is connected. */
  get walletName(): string | undefined {
    return this.#session?.peer.metadata.name
  }

  get chainId(): number {
    return this.#chainId
  }

  /** Of the current chain; the signing account is first. */
  accounts(): string[] {
    const prefix = `eip155:${this.#chainId}:`
    const accounts = this.#session?.namespaces.eip155?.accounts ?? []
    return accounts
      .filter((account) => account.startsWith(prefix))
      .map((account) => checksumAddress(account.slice(prefix.length)))
  }

  /**
   * Asks for a wallet and waits until one agrees. @throws when the person refuses, here or in the
   * wallet, or no wallet connects
   */
  async connect(): Promise<string[]> {
    const chains = this.#options.chainIds.map((id) => `eip155:${id}`)
    const { uri, approval } = await this.#client.connect({
      optionalNamespaces: { eip155: { chains, methods: METHODS, events: EVENTS } },
    })
    if (uri !== undefined) this.#options.onUri(uri)
    this.#session = await this.#unlessCancelled(approval())
    const granted = this.#options.chainIds.find((id) =>
      this.#session?.namespaces.eip155?.accounts.some((account) =>
        account.startsWith(`eip155:${id}:`),
      ),
    )
    if (granted === undefined) {
      await this.disconnect()
      throw rpcError(4901, 'The wallet offers none of the configured networks.')
    }
    this.#chainId = granted
    return this.accounts()
  }

  /** The person no longer wants to connect: a wallet that agrees after this is disconnected. */
  cancel(): void {
    this.#giveUp?.(rpcError(4001, 'The person cancelled.'))
  }

  async disconnect(): Promise<void> {
    const topic = this.#session?.topic
    this.#session = undefined
    if (topic !== undefined) await this.#leave(topic)
  }

  /** EIP-1193. @throws with `code` 4100, 4200 or 4902, or the wallet's error */
  async request({ method, params }: { method: string; params?: unknown }): Promise<unknown> {
    switch (method) {
      case 'eth_accounts':
      case 'eth_requestAccounts':
        return this.accounts()
      case 'eth_chainId':
        return numberToHex(this.#chainId)
      case 'wallet_switchEthereumChain':
        return this.#switchTo(params)
      default:
        return this.#request(method, params)
    }
  }

  async #unlessCancelled(approval: Promise<Session>): Promise<Session> {
    const cancelled = Promise.withResolvers<never>()
    let over = false
    this.#giveUp = (error) => {
      over = true
      cancelled.reject(error)
    }
    approval.then(
      ({ topic }) => (over ? this.#leave(topic) : undefined),
      () => undefined,
    )
    try {
      return await Promise.race([approval, cancelled.promise])
    } finally {
      this.#giveUp = undefined
    }
  }

  #leave(topic: string): Promise<void> {
    return this.#client.disconnect({
      topic,
      reason: { code: 6000, message: 'The person disconnected.' },
    })
  }

  #switchTo(params: unknown): null {
    const requested: unknown = Array.isArray(params)
      ? Reflect.get(Object(params[0]), 'chainId')
      : undefined
    const chainId = isHex(requested) ? hexToNumber(requested) : 0
    const offered = this.#session?.namespaces.eip155?.accounts.some((account) =>
      account.startsWith(`eip155:${chainId}:`),
    )
    if (!offered) throw rpcError(4902, 'The wallet did not offer this network.')
    if (chainId !== this.#chainId) {
      this.#chainId = chainId
      this.#events.chain(chainId)
    }
    return null
  }

  async #request(method: string, params: unknown): Promise<unknown> {
    const session = this.#session
    if (!session) throw rpcError(4100, 'No wallet is connected.')
    if (!session.namespaces.eip155?.methods.includes(method))
      throw rpcError(4200, `The wallet did not grant ${method}.`)
    return this.#client.request({
      topic: session.topic,
      chainId: `eip155:${this.#chainId}`,
      request: { method, params: params ?? [] },
    })
  }

  #heard({ name, data }: { name: string; data: unknown }): void {
    if (name === 'accountsChanged') this.#events.accounts(this.accounts())
    if (name !== 'chainChanged') return
    const chainId = isHex(data) ? hexToNumber(data) : Number(data)
    if (!this.#options.chainIds.includes(chainId)) return
    this.#chainId = chainId
    this.#events.chain(chainId)
  }

  #ended(topic: string): void {
    if (topic !== this.#session?.topic) return
    this.#session = undefined
    this.#events.end()
  }
}

function rpcError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code })
}
