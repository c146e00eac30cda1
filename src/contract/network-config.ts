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
