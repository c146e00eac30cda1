import {
  numberToHex,
  type Address,
  type PublicClient,
  TransactionNotFoundError,
  type Hash,
  type EIP1193Provider,
} from 'viem'
import { type Config, type Connector, createConfig, custom, type CreateConnectorFn } from 'wagmi'
import {
  getPublicClient,
  signMessage,
  connect,
  disconnect,
  getConnection,
  reconnect,
  watchConnection,
  watchConnectors,
} from 'wagmi/actions'
import { compareSigned } from '#chains/evm/compare.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { encodeBalanceOf, readBalance } from '#chains/evm/transfer-simulation.ts'
import { checksumAddress } from '#contract/address.ts'
import { chainIdOf, type Network, nativeAsset, type Asset } from '#contract/network.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { TransactionReader } from '../../payment-intent/ports.ts'
import { setAccount } from '../state/accounts.ts'
import { bounded } from '../state/bounded.ts'
import { ChosenAccount } from '../state/chosen.ts'
import { safeIcon } from '../state/discover.ts'
import { walletProblem, WalletError } from '../state/errors.ts'
import { firstDifference, toPaymentIntent } from '../state/intent.ts'
import { rememberedWallet, rememberWallet } from '../state/remembered.ts'
import type {
  WalletAdapter,
  AssetBalance,
  BroadcastReading,
  Elsewhere,
} from '../state/wallet-adapter.ts'
import { evmChain } from './chain.ts'
import { readingOf } from './operations.ts'
import {
  declaresExactNonce,
  payWithProvider,
  prepareProvider,
  readAccounts,
  signTypedData,
} from './pay.ts'
import { requestOf } from './rpc-transport.ts'
import { WALLET_CONNECT } from './wallet-connect-id.ts'
import { walletConnect, type RelaySettings, type WalletConnect } from './walletconnect.ts'

/** Extensions may announce themselves this late after the page loads. */
const ANNOUNCED_WITHIN_MS = 2_000

/**
 * Connectors come from EIP-6963, in addition to the given ones: the last extension to load owns
 * `window.ethereum`. @throws without a network
 */
function createConfigOf(networks: readonly Network[], connectors: CreateConnectorFn[]): Config {
  const [first, ...others] = networks.map(chainOf)
  if (!first) throw new Error('No EVM network is configured.')
  // The same endpoints, in the same order, as whatever else this page asks of a chain.
  const transport = (network: Network) =>
    custom({ request: (call) => requestOf(network, call) }, { retryCount: 0 })
  return createConfig({
    chains: [first, ...others],
    connectors,
    transports: Object.fromEntries(
      networks.map((network) => [chainIdOf(network.network), transport(network)]),
    ),
    multiInjectedProviderDiscovery: true,
    // We remember which wallet to reconnect, for both families alike; wagmi's own storage would
    // reconnect every wallet it finds.
    storage: null,
    ssr: false,
  })
}

function chainOf(network: Network) {
  const { name, symbol, decimals } = nativeAsset(network)
  return {
    id: chainIdOf(network.network),
    name: network.name,
    nativeCurrency: { name, symbol, decimals },
    rpcUrls: { default: { http: network.rpcUrls } },
    testnet: network.testnet,
  } as const
}

/** Waits briefly for a wallet that announces itself late. */
function announced(config: Config, walletId: string): Promise<Connector | undefined> {
  return new Promise((resolve) => {
    const finish = (connector: Connector | undefined) => {
      clearTimeout(timer)
      unwatch()
      resolve(connector)
    }
    const timer = setTimeout(() => finish(undefined), ANNOUNCED_WITHIN_MS)
    const unwatch = watchConnectors(config, {
      onChange: (connectors) => {
        const connector = connectors.find(({ id }) => id === walletId)
        if (connector) finish(connector)
      },
    })
  })
}

const CONNECT_WITHIN_MS = 3 * 60_000
const QUIET_WITHIN_MS = 5_000

/** The connected wallet of wagmi, told to the pages whenever it changes. */
class EvmConnection {
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
    const address = this.pick(await readAccounts(provider))
    this.#publish()
    return address ? { address, connector, provider } : null
  }

  readonly pick = (accounts: readonly string[]) => this.#chosen.pick(accounts)

  /** @throws WalletError */
  async connect(walletId: string, elsewhere?: Elsewhere): Promise<string[]> {
    const connector = this.#find(walletId)
    if (!connector) throw new WalletError('disconnected', walletId)
    try {
      if (this.connector) await disconnect(this.#config)
      this.#chosen.forget()
      if (elsewhere) this.#remote?.setCodeDisplay(elsewhere)
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

async function providerOf(connector: Connector): Promise<EIP1193Provider> {
  return (await connector.getProvider()) as EIP1193Provider
}

const SIGN_WITHIN_MS = 5 * 60_000

/** Starts wagmi for the configured networks. With `relay`, for wallets on other devices too. */
export function startEvm(networks: readonly Network[], relay: RelaySettings | null): WalletAdapter {
  const remote = relay ? walletConnect(relay) : undefined
  const config = createConfigOf(networks, remote ? [remote.connectorOf] : [])
  const connection = new EvmConnection(config, remote)
  const { pick } = connection

  const clientOf = (network: Network) => {
    const client = getPublicClient(config, { chainId: chainIdOf(network.network) })
    if (!client) throw new Error(`${network.network} is not configured.`)
    return client
  }

  return {
    connect: (walletId, elsewhere) => connection.connect(walletId, elsewhere),
    choose: (address) => connection.choose(address),
    reconnect: () => connection.reconnect(),
    disconnect: () => connection.disconnect(),
    signMessage: async (account, message) => {
      const signer = await connection.readSigner()
      if (signer?.address !== account.address)
        throw new WalletError('unauthorized', account.walletName)
      try {
        return await bounded(
          signMessage(config, {
            account: account.address as `0x${string}`,
            message,
            connector: signer.connector,
          }),
          SIGN_WITHIN_MS,
        )
      } catch (error) {
        throw walletProblem(error, account.walletName)
      }
    },
    signTypedData: async (network, { address, walletName }, data) => {
      const signer = await connection.readSigner()
      if (signer?.address !== address) throw new WalletError('unauthorized', walletName)
      return signTypedData(signer.provider, network, { address, walletName, data, pick })
    },
    wallet: {
      signer: async () => (await connection.readSigner().catch(() => null))?.address ?? null,
      prepare: async (order) => {
        const network = networks.find((each) => each.network === order.network)
        // A wallet that is not connected is noticed when it is to sign.
        const signer = await connection.readSigner().catch(() => null)
        return network && signer
          ? prepareProvider(signer.provider, network, order.walletName)
          : null
      },
      keepsNonce: async ({ network, sender }) => {
        const provider = connection.connector && (await providerOf(connection.connector))
        return (
          provider !== undefined &&
          declaresExactNonce(provider, numberToHex(chainIdOf(network)), sender)
        )
      },
      pay: async (order, built) => {
        const network = networks.find((each) => each.network === order.network)
        const { connector } = connection
        if (!network || !connector) return { kind: 'signer_changed' }
        return payWithProvider(await providerOf(connector), network, { order, built, pick })
      },
    },
    chain: evmChain(networks, clientOf),
    reader: evmReader(networks),
    readBroadcast: (network, transaction) => readBroadcast(clientOf(network), transaction),
    balances: (network, address) => readBalances(clientOf(network), network, address),
  }
}

/** What an account holds of each of the network's assets, in their order. */
export function readBalances(
  client: PublicClient,
  network: Network,
  address: string,
): Promise<AssetBalance[]> {
  return Promise.all(
    network.assets.map(async (asset) => {
      if (asset.native)
        return { asset, atomic: await client.getBalance({ address: address as Address }) }
      const { data } = await client.call({
        to: asset.address as Address,
        data: encodeBalanceOf(address),
      })
      return { asset, atomic: readBalance(data) ?? 0n }
    }),
  )
}

/**
 * Nonce and fees of a transaction as the payer's RPC shows them, beside those of the bytes that the service built; null while the RPC does not show it.
 * @throws when the RPC cannot be reached
 */
async function readBroadcast(
  client: PublicClient,
  { signature, bytes }: { signature: string; bytes: Uint8Array },
): Promise<BroadcastReading | null> {
  const built = decodeTransaction(bytes)
  if (!built.ok) return null
  try {
    const {
      nonce,
      maxFeePerGas = null,
      maxPriorityFeePerGas = null,
    } = await client.getTransaction({ hash: signature as Hash })
    return {
      sent: { nonce, maxFeePerGas, maxPriorityFeePerGas },
      fees: { maxFeePerGas: built.maxFeePerGas, maxPriorityFeePerGas: built.maxPriorityFeePerGas },
    }
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return null
    throw error
  }
}

/** Reads EVM transactions from their bytes. */
export function evmReader(networks: readonly Network[]): TransactionReader {
  const currencyOf = (order: WalletPaymentIntent): Asset | undefined => {
    const network = networks.find((each) => each.network === order.network)
    return network && nativeAsset(network)
  }
  return {
    match: (order, attempt, bytes) =>
      readingOf(order).match(toPaymentIntent(order, attempt, currencyOf(order)), bytes),
    describe: (order, attempt, bytes) =>
      readingOf(order).describe(toPaymentIntent(order, attempt, currencyOf(order)), bytes),
    nonce: (_order, bytes) => {
      const decoded = decodeTransaction(bytes)
      return decoded.ok ? decoded.nonce : null
    },
    compareSigned: (order, built, signed) => {
      const match = compareSigned(
        toPaymentIntent(order, built, currencyOf(order)),
        built.bytes,
        signed,
      )
      const decoded = decodeTransaction(signed)
      if (!match.ok || match.digest !== built.digest || !decoded.ok || !decoded.hash)
        return { ok: false, difference: firstDifference(match.rows) }
      return { ok: true, signature: decoded.hash }
    },
  }
}
