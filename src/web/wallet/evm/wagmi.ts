import {
  createConfig,
  fallback,
  http,
  type Config,
  type Connector,
  type CreateConnectorFn,
} from 'wagmi'
import { watchConnectors } from 'wagmi/actions'
import { chainIdOf, nativeAsset, type Network } from '#contract/network.ts'

/** Extensions may announce themselves this late after the page loads. */
const ANNOUNCED_WITHIN_MS = 2_000
const RPC_TIMEOUT_MS = 10_000

/**
 * Connectors come from EIP-6963, in addition to the given ones: the last extension to load owns
 * `window.ethereum`. @throws without a network
 */
export function createConfigOf(
  networks: readonly Network[],
  connectors: CreateConnectorFn[],
): Config {
  const [first, ...others] = networks.map(chainOf)
  if (!first) throw new Error('No EVM network is configured.')
  const transport = (network: Network) =>
    fallback(network.rpcUrls.map((url) => http(url, { timeout: RPC_TIMEOUT_MS, retryCount: 1 })))
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
export function announced(config: Config, walletId: string): Promise<Connector | undefined> {
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
