import { SOLANA_DEVNET, SOLANA_MAINNET, SOLANA_TESTNET, type NetworkId } from '#contract/network.ts'

/** The network names of x402 v1. Version 2 names networks by CAIP-2, which is understood in v1 too: not every chain has a name. */
const V1_NAMES: Readonly<Record<string, NetworkId>> = {
  ethereum: 'eip155:1',
  sepolia: 'eip155:11155111',
  base: 'eip155:8453',
  'base-sepolia': 'eip155:84532',
  polygon: 'eip155:137',
  'polygon-amoy': 'eip155:80002',
  avalanche: 'eip155:43114',
  'avalanche-fuji': 'eip155:43113',
  abstract: 'eip155:2741',
  'abstract-testnet': 'eip155:11124',
  iotex: 'eip155:4689',
  sei: 'eip155:1329',
  'sei-testnet': 'eip155:1328',
  peaq: 'eip155:3338',
  story: 'eip155:1514',
  educhain: 'eip155:41923',
  'skale-base-sepolia': 'eip155:324705682',
  megaeth: 'eip155:4326',
  monad: 'eip155:143',
  stable: 'eip155:988',
  'stable-testnet': 'eip155:2201',
  celo: 'eip155:42220',
  flare: 'eip155:14',
  solana: SOLANA_MAINNET,
  'solana-devnet': SOLANA_DEVNET,
  'solana-testnet': SOLANA_TESTNET,
}

/** The names that the clients of version 1 know (x402 1.2.0). They refuse a whole 402 that has another one in it. */
const KNOWN_TO_V1_CLIENTS: ReadonlySet<string> = new Set([
  'abstract',
  'abstract-testnet',
  'base-sepolia',
  'base',
  'avalanche-fuji',
  'avalanche',
  'iotex',
  'solana-devnet',
  'solana',
  'sei',
  'sei-testnet',
  'polygon',
  'polygon-amoy',
  'peaq',
  'story',
  'educhain',
  'skale-base-sepolia',
])

/** Whether the clients of version 1 can read an offer on a network, by its name in that version. */
export function isKnownToV1Clients(name: string): boolean {
  return KNOWN_TO_V1_CLIENTS.has(name)
}

/** The CAIP-2 id a payload means; undefined for a name nobody knows. A v1 name counts in v1 only. */
export function readNetwork(name: string, version: 1 | 2): NetworkId | undefined {
  if (/^[a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(name)) return name
  return version === 1 && Object.hasOwn(V1_NAMES, name) ? V1_NAMES[name] : undefined
}

/** How v1 spells a network: its name, or CAIP-2 where it has none. */
export function formatNetworkV1(network: NetworkId): string {
  return Object.keys(V1_NAMES).find((name) => V1_NAMES[name] === network) ?? network
}
