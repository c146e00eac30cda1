import * as v from 'valibot'
import type { Family } from './address.ts'
import { EVM_NATIVE, SOLANA_NATIVE } from './known-address.ts'

/** CAIP-2 chain id: `eip155:8453`, `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp`. */
export type NetworkId = string

/** The longest symbol an asset may have. */
export const SYMBOL_LENGTH = 12

/** What is paid: the chain's native currency, or a token. `address` is the normal form that goes over the wire. */
export const Asset = v.object({
  address: v.string(),
  symbol: v.pipe(v.string(), v.minLength(1), v.maxLength(SYMBOL_LENGTH)),
  name: v.string(),
  decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(36)),
  native: v.boolean(),
})
export type Asset = v.InferOutput<typeof Asset>

/** One chain as a program is configured for it. The browser gets the same shape from `GET /api/config`. */
export const Network = v.object({
  network: v.pipe(
    v.string(),
    v.regex(/^(eip155:[1-9][0-9]{0,15}|solana:[1-9A-HJ-NP-Za-km-z]{32})$/),
  ),
  name: v.string(),
  /** JSON-RPC addresses; the first is tried first. A browser is told the public ones alone. */
  rpcUrls: v.array(v.pipe(v.string(), v.url())),
  /** Those that browsers may know and ask; nothing else of a server's addresses reaches them. */
  publicRpcUrls: v.optional(v.array(v.pipe(v.string(), v.url()))),
  /** What looks like a key in them may be public, such as one that the provider ties to an origin. */
  publicRpcKeys: v.optional(v.boolean()),
  /** WebSocket address that browsers use, where it is not the RPC's own. */
  wsUrl: v.optional(v.pipe(v.string(), v.url())),
  testnet: v.boolean(),
  /** Mean time between blocks (slots on Solana), in milliseconds. */
  blockTimeMs: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** Blocks on top of (and with) the payment's own before it counts as confirmed on EVM; Solana uses the commitment `confirmed`. */
  confirmations: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** `{tx}` and `{address}` are filled in. */
  explorer: v.optional(v.object({ tx: v.string(), address: v.string() })),
  /** The native currency first, then the tokens that may be named by symbol. */
  assets: v.pipe(v.array(Asset), v.minLength(1)),
  /** Solana's genesis hash or nothing: pinned when set. EVM pins its chain id, which `network` holds. */
  genesisHash: v.optional(v.string()),
})
export type Network = v.InferOutput<typeof Network>

export const SOLANA_MAINNET: NetworkId = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
export const SOLANA_TESTNET: NetworkId = 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z'
export const SOLANA_DEVNET: NetworkId = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'

/** The blocks a Solana payment needs to be final: the cluster's own vote lockout. */
export const SOLANA_FINAL_CONFIRMATIONS = 32

export const NATIVE_ETH: Asset = {
  address: EVM_NATIVE,
  symbol: 'ETH',
  name: 'Ether',
  decimals: 18,
  native: true,
}
export const NATIVE_SOL: Asset = {
  address: SOLANA_NATIVE,
  symbol: 'SOL',
  name: 'Solana',
  decimals: 9,
  native: true,
}

/** What may be asked for on a network. */
export type NetworkAssets = Pick<Network, 'network' | 'assets'>

export function familyOf(network: NetworkId): Family {
  return network.startsWith('eip155:') ? 'evm' : 'solana'
}

/** Chain id of an EVM network. */
export function chainIdOf(network: NetworkId): number {
  return Number(network.slice('eip155:'.length))
}

export function nativeAsset(network: NetworkAssets): Asset {
  const native = network.assets.find((asset) => asset.native)
  if (!native)
    throw new Error(`Network ${network.network} is configured without its native currency.`)
  return native
}

/**
 * The asset a caller means: nothing or `native` is the native currency; otherwise an address or a configured symbol.
 * The zero address is understood as native on EVM and is never sent out.
 */
export function findAsset(network: NetworkAssets, name: string | undefined): Asset | undefined {
  const native = nativeAsset(network)
  if (name === undefined) return native
  const normalized = name.toLowerCase()
  if (normalized === 'native' || normalized === native.symbol.toLowerCase()) return native
  if (familyOf(network.network) === 'evm') {
    if (normalized === `0x${'0'.repeat(40)}`) return native
    return network.assets.find(
      (asset) =>
        asset.address.toLowerCase() === normalized || asset.symbol.toLowerCase() === normalized,
    )
  }
  return network.assets.find(
    (asset) => asset.address === name || asset.symbol.toLowerCase() === normalized,
  )
}

/** The network a family's payments use when the caller names none: the first one configured. */
export function defaultNetwork(networks: readonly Network[], family: Family): Network | undefined {
  return networks.find((network) => familyOf(network.network) === family)
}

/** Link to a transaction or an address in the network's explorer, where one is configured. */
export function explorerLink(
  network: Network,
  kind: 'tx' | 'address',
  value: string,
): string | undefined {
  return network.explorer?.[kind].replace(`{${kind}}`, encodeURIComponent(value))
}
