import type { Devnet } from '#devnet/network.ts'
import type { CheckoutRequest } from './checkout.ts'

/** A payment in ether to the demo seller. */
export function onEthereum(net: Devnet, amount: string): CheckoutRequest {
  return { network: networkOf(net, 'eip155:'), to: net.wallets.seller.evm.address, amount }
}

/** A payment in SOL to the demo seller. */
export function onSolana(net: Devnet, amount: string): CheckoutRequest {
  return { network: networkOf(net, 'solana:'), to: net.wallets.seller.solana.address, amount }
}

function networkOf(net: Devnet, family: string): string {
  const found = net.networks.find(({ network }) => network.startsWith(family))
  if (!found) throw new Error(`The devnet has no network of ${family}`)
  return found.network
}
