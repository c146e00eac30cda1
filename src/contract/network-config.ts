import * as v from 'valibot'
import { parseAddress } from './address.ts'
import { EVM_NATIVE, SOLANA_NATIVE } from './known-address.ts'
import { familyOf, Network, type Asset } from './network.ts'

/**
 * A network as an operator writes it: read into normal form, and refused where its assets could be mixed up or never be paid. A wrong address
 * in a list of tokens is money sent to nobody.
 */
export const NetworkConfig = v.pipe(
  Network,
  v.check(
    ({ rpcUrls }) => rpcUrls.length > 0,
    (issue) => `Expected an address in rpcUrls of ${issue.input.network}.`,
  ),
  v.check(
    (network) => findSecret(network) === undefined,
    (issue) =>
      `Expected publicRpcUrls and wsUrl of ${issue.input.network} without a key: ${findSecret(issue.input)}. Browsers get these addresses. publicRpcKeys: true says that the key is public.`,
  ),
  v.transform((network) => ({ ...network, assets: network.assets.map(normal) })),
  v.check(
    ({ assets, network }) =>
      assets.filter(({ native }) => native).length === 1 &&
      assets[0]?.native === true &&
      assets[0].address === nativeOf(network),
    (issue) =>
      `Expected one native currency in ${issue.input.network}, first among the assets, at ${nativeOf(issue.input.network)}.`,
  ),
  v.check(
    ({ assets, network }) => assets.every(({ address }) => isAddressOf(network, address)),
    (issue) => {
      const wrong = issue.input.assets.find(
        ({ address }) => !isAddressOf(issue.input.network, address),
      )
      return `Expected the address of a token of ${issue.input.network}, received ${wrong?.address} for ${wrong?.symbol}.`
    },
  ),
  v.check(
    ({ assets }) =>
      isUnique(assets.map(({ address }) => address)) &&
      isUnique(assets.map(({ symbol }) => symbol.toLowerCase())),
    (issue) => `Expected each asset of ${issue.input.network} once, by address and by symbol.`,
  ),
)

/** The network as browsers are told it: no address but the public ones. */
export function publishedNetwork(network: Network): Network {
  const { publicRpcUrls, publicRpcKeys: _, wsUrl, ...others } = network
  return {
    ...others,
    rpcUrls: publicRpcUrls ?? [],
    ...(publicRpcUrls !== undefined && wsUrl !== undefined && { wsUrl }),
  }
}

/** Keys of providers are a part of the path: 20 characters or more, or 16 with a digit among them. */
const LIKE_A_KEY = /^(?=.*[0-9])[\w.~%=-]{16,}$|^[\w.~%=-]{20,}$/

/** Where an address for browsers seems to hold a key, without the key; undefined where none does. */
function findSecret({ publicRpcUrls = [], publicRpcKeys, wsUrl }: Network): string | undefined {
  if (publicRpcKeys) return undefined
  for (const text of wsUrl === undefined ? publicRpcUrls : [...publicRpcUrls, wsUrl]) {
    const url = new URL(text)
    const { host } = url
    if (url.username || url.password) return `that of ${host} has a user name or a password`
    if (url.search || url.hash) return `that of ${host} has a query`
    if (url.pathname.split('/').some((part) => LIKE_A_KEY.test(part)))
      return `the path of ${host} looks like a key`
  }
  return undefined
}

function nativeOf(network: string): string {
  return familyOf(network) === 'evm' ? EVM_NATIVE : SOLANA_NATIVE
}

function normal(asset: Asset): Asset {
  const parsed = parseAddress(asset.address)
  return parsed.ok ? { ...asset, address: parsed.address } : asset
}

function isAddressOf(network: string, address: string): boolean {
  const parsed = parseAddress(address)
  return parsed.ok && parsed.family === familyOf(network)
}

function isUnique(names: readonly string[]): boolean {
  return new Set(names).size === names.length
}
