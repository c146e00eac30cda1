import type { EIP1193Provider } from 'viem'
import { createConfig, fallback, http, type Config, type Connector } from 'wagmi'
import { connect, disconnect, getConnection, getPublicClient, reconnect, signMessage, watchConnection, watchConnectors } from 'wagmi/actions'
import { checksumAddress } from '#contract/address.ts'
import { chainIdOf, nativeAsset, type Network } from '#contract/network.ts'
import { setAccount } from './accounts.ts'
import { bounded } from './bounded.ts'
import { ChosenAccount } from './chosen.ts'
import { safeIcon } from './discover.ts'
import { walletProblem, WalletProblem } from './errors.ts'
import { readBalances } from './evm/balances.ts'
import { evmChain } from './evm/chain.ts'
import { payWithProvider, readAccounts } from './evm/pay.ts'
import { evmReader } from './evm/reader.ts'
import { signTypedData } from './evm/sign-typed-data.ts'
import { rememberedWallet, rememberWallet } from './remembered.ts'
import type { WalletStack } from './stack.ts'

const CONNECT_WITHIN_MS = 3 * 60_000
const SIGN_WITHIN_MS = 5 * 60_000
const QUIET_WITHIN_MS = 5_000
/** Extensions announce themselves as late as this after the page loads. */
const ANNOUNCED_WITHIN_MS = 2_000
const RPC_TIMEOUT_MS = 10_000

/** Starts wagmi for the configured networks. Connectors come from EIP-6963 alone: `window.ethereum` belongs to whoever came last. */
export function startEvm(networks: readonly Network[]): WalletStack {
  const config = createConfigOf(networks)
  const chosen = new ChosenAccount()

  const connectorOf = (walletId: string) => config.connectors.find(({ id }) => id === walletId)
  const providerOf = async (connector: Connector) => (await connector.getProvider()) as EIP1193Provider

  const publish = () => {
    const { connector, addresses, status } = getConnection(config)
    const address = status === 'connected' ? chosen.pick(addresses.map(checksumAddress)) : undefined
    if (!connector || !address) return setAccount('evm', undefined)
    setAccount('evm', { family: 'evm', address, walletId: connector.id, walletName: connector.name, icon: safeIcon(connector.icon) })
  }
  watchConnection(config, { onChange: publish })

  /** I5. What the wallet says now, and the store follows it. */
  const readSigner = async (): Promise<{ address: string; connector: Connector } | null> => {
    const { connector } = getConnection(config)
    if (!connector) return null
    const address = chosen.pick(await readAccounts(await providerOf(connector)))
    publish()
    return address ? { address, connector } : null
  }

  const clientOf = (network: Network) => {
    const client = getPublicClient(config, { chainId: chainIdOf(network.network) })
    if (!client) throw new Error(`${network.network} is not configured.`)
    return client
  }

  return {
    connect: async (walletId) => {
      const connector = connectorOf(walletId)
      if (!connector) throw new WalletProblem('disconnected', walletId)
      try {
        if (getConnection(config).connector) await disconnect(config)
        chosen.forget()
        const { accounts } = await bounded(connect(config, { connector }), CONNECT_WITHIN_MS)
        rememberWallet('evm', walletId)
        return accounts.map(checksumAddress)
      } catch (error) {
        throw walletProblem(error, connector.name)
      }
    },
    choose: (address) => {
      chosen.choose(address, (getConnection(config).addresses ?? []).map(checksumAddress))
      publish()
    },
    reconnect: async () => {
      const walletId = rememberedWallet('evm')
      const connector = walletId && (connectorOf(walletId) ?? (await announced(config, walletId)))
      if (connector) await bounded(reconnect(config, { connectors: [connector] }), QUIET_WITHIN_MS).catch(() => undefined)
    },
    disconnect: async () => {
      rememberWallet('evm', undefined)
      await bounded(disconnect(config), QUIET_WITHIN_MS).catch(() => undefined)
      publish()
    },
    signMessage: async (account, message) => {
      const signer = await readSigner()
      if (signer?.address !== account.address) throw new WalletProblem('unauthorized', account.walletName)
      try {
        return await bounded(signMessage(config, { account: account.address as `0x${string}`, message, connector: signer.connector }), SIGN_WITHIN_MS)
      } catch (error) {
        throw walletProblem(error, account.walletName)
      }
    },
    signTypedData: async (network, { address, walletName }, data) => {
      const signer = await readSigner()
      if (signer?.address !== address) throw new WalletProblem('unauthorized', walletName)
      return signTypedData(await providerOf(signer.connector), network, { address, walletName, data })
    },
    wallet: {
      signer: async () => (await readSigner().catch(() => null))?.address ?? null,
      pay: async (order, built) => {
        const network = networks.find((each) => each.network === order.network)
        const { connector } = getConnection(config)
        if (!network || !connector) return { kind: 'signer_changed' }
        return payWithProvider(await providerOf(connector), network, { order, built })
      },
    },
    chain: evmChain(networks, clientOf),
    reader: evmReader(networks),
    balances: (network, address) => readBalances(clientOf(network), network, address),
  }
}

function createConfigOf(networks: readonly Network[]): Config {
  const [first, ...others] = networks.map(chainOf)
  if (!first) throw new Error('This desk has no EVM network.')
  const transport = (network: Network) => fallback(network.rpcUrls.map((url) => http(url, { timeout: RPC_TIMEOUT_MS, retryCount: 1 })))
  return createConfig({
    chains: [first, ...others],
    connectors: [],
    transports: Object.fromEntries(networks.map((network) => [chainIdOf(network.network), transport(network)])),
    multiInjectedProviderDiscovery: true,
    // Which wallet to connect again is remembered by us, for both families alike; wagmi's own memory would connect every wallet it finds.
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

/** Waits a moment for a wallet that announces itself late. */
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
