import { parseAddress } from '#contract/address.ts'
import { familyOf, type Network } from '#contract/network.ts'
import type { BffConfig } from './config.ts'

/** A network where the merchant is paid, and the wallet there. */
export type SellerNetwork = { network: Network; recipient: string }

/**
 * Where a price that names no network may be paid: all networks with a wallet of the merchant. Test networks are among
 * them only where all configured networks are: their coins are free, so beside a main network they would pay a real price.
 */
export function sellerNetworks({
  networks,
  sellerWallets,
}: Pick<BffConfig, 'networks' | 'sellerWallets'>): SellerNetwork[] {
  const onlyTests = networks.every(({ testnet }) => testnet)
  return networks
    .filter(({ testnet }) => onlyTests || !testnet)
    .flatMap((network) => {
      const recipient = sellerWallets.find((wallet) => isWalletOn(wallet, network))
      return recipient === undefined ? [] : [{ network, recipient }]
    })
}

/** Whether an address is one of the network's family. */
export function isWalletOn(wallet: string, { network }: Network): boolean {
  const parsed = parseAddress(wallet)
  return parsed.ok && parsed.family === familyOf(network)
}
