import type { EIP1193Provider } from 'viem'
import type { Config, Connector } from 'wagmi'
import { connect, disconnect, getConnection, reconnect, watchConnection } from 'wagmi/actions'
import { checksumAddress } from '#contract/address.ts'
import { setAccount } from '../state/accounts.ts'
import { bounded } from '../state/bounded.ts'
import { ChosenAccount } from '../state/chosen.ts'
import { safeIcon } from '../state/discover.ts'
import { walletProblem, WalletError } from '../state/errors.ts'
import { rememberedWallet, rememberWallet } from '../state/remembered.ts'
import type { Elsewhere } from '../state/wallet-adapter.ts'
import { readAccounts } from './pay.ts'
import { announced } from './wagmi.ts'
import { WALLET_CONNECT } from './wallet-connect-id.ts'
import type { WalletConnect } from './walletconnect.ts'

const CONNECT_WITHIN_MS = 3 * 60_000
const QUIET_WITHIN_MS = 5_000

/** The connected wallet of wagmi, told to the pages whenever it changes. */
export class EvmConnection {
  readonly #config: Config
  readonly #remote: WalletConnect | undefined
  readonly #chosen = new ChosenAccount()

  constructor(config: Config, remote: WalletConnect | undefined) {
    this.#config = config
    this.#remote = remote
    watchConnection(config, { onChange: () => this.#publish() })
  }

  get connector(): Connector | undefined {
    return getConnection(this.#config).connector
  }

  /** I5. What the wallet says now, and the store follows it. */
  async readSigner(): Promise<{
    address: string
    connector: Connector
    provider: EIP1193Provider
  } | null> {
    const { connector } = this
    if (!connector) return null
    const provider = await providerOf(connector)
    const address = this.#chosen.pick(await readAccounts(provider))
    this.#publish()
    return address ? { address, connector, provider } : null
  }

  /** @throws WalletProblem */
  async connect(walletId: string, elsewhere?: Elsewhere): Promise<string[]> {
    const connector = this.#find(walletId)
    if (!connector) throw new WalletError('disconnected', walletId)
    try {
      if (this.connector) await disconnect(this.#config)
      this.#chosen.forget()
      if (elsewhere) this.#remote?.offer(elsewhere)
      const { accounts } = await bounded(connect(this.#config, { connector }), CONNECT_WITHIN_MS)
      rememberWallet('evm', walletId)
      return accounts.map(checksumAddress)
    } catch (error) {
      throw walletProblem(error, connector.name)
    }
  }

  choose(address: string): void {
    this.#chosen.choose(address, (getConnection(this.#config).addresses ?? []).map(checksumAddress))
    this.#publish()
  }

  async reconnect(): Promise<void> {
    const walletId = rememberedWallet('evm')
    const connector =
      walletId && (this.#find(walletId) ?? (await announced(this.#config, walletId)))
    if (connector)
      await bounded(reconnect(this.#config, { connectors: [connector] }), QUIET_WITHIN_MS).catch(
        () => undefined,
      )
  }

  async disconnect(): Promise<void> {
    rememberWallet('evm', undefined)
    await bounded(disconnect(this.#config), QUIET_WITHIN_MS).catch(() => undefined)
    this.#publish()
  }

  #find(walletId: string): Connector | undefined {
    return this.#config.connectors.find(({ id }) => id === walletId)
  }

  #publish(): void {
    const { connector, addresses, status } = getConnection(this.#config)
    const address =
      status === 'connected' ? this.#chosen.pick(addresses.map(checksumAddress)) : undefined
    if (!connector || !address) return setAccount('evm', undefined)
    const { id, name, icon } = connector
    const walletName = (id === WALLET_CONNECT ? this.#remote?.walletName() : undefined) ?? name
    setAccount('evm', { family: 'evm', address, walletId: id, walletName, icon: safeIcon(icon) })
  }
}

export async function providerOf(connector: Connector): Promise<EIP1193Provider> {
  return (await connector.getProvider()) as EIP1193Provider
}
