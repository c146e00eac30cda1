import { formatAmount } from '#contract/amount.ts'
import { chainIdOf, familyOf, type Asset, type NetworkId } from '#contract/network.ts'

/** What a code for a wallet asks for. */
export type UriIntent = {
  network: NetworkId
  asset: Asset
  recipient: string
  amountAtomic: bigint
  /** Solana only: the payment's id, by which the service finds the payment on the chain. */
  memo?: string
  /** Whom the wallet says it pays, and what for. */
  label?: string
  message?: string
}

/** The address that a wallet reads as a payment: a Solana Pay transfer request, or EIP-681. */
export function paymentUri(intent: UriIntent): string {
  return familyOf(intent.network) === 'solana' ? solanaPayUri(intent) : ethereumUri(intent)
}

/** @see Solana Pay specification 1.1, "Transfer Request": `solana:<recipient>?amount&spl-token&label&message&memo` */
function solanaPayUri({ recipient, asset, amountAtomic, memo, label, message }: UriIntent): string {
  const fields: [string, string | undefined][] = [
    ['amount', formatAmount(amountAtomic, asset.decimals)],
    ['spl-token', asset.native ? undefined : asset.address],
    ['label', label],
    ['message', message],
    ['memo', memo],
  ]
  const query = fields.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return `solana:${recipient}?${query.join('&')}`
}

/** @see EIP-681: a plain payment names its value in wei, a token payment is a call of the token's `transfer`. */
function ethereumUri({ network, recipient, asset, amountAtomic }: UriIntent): string {
  const chainId = chainIdOf(network)
  return asset.native
    ? `ethereum:${recipient}@${chainId}?value=${amountAtomic}`
    : `ethereum:${asset.address}@${chainId}/transfer?address=${recipient}&uint256=${amountAtomic}`
}

/** Opens a page in the browser inside a wallet's app, where the wallet is at hand. */
export const inWallet = {
  /** https://docs.metamask.io: `link.metamask.io/dapp/<address without its scheme>` */
  MetaMask: (url: URL): string =>
    `https://link.metamask.io/dapp/${url.host}${url.pathname}${url.search}`,
  /** https://docs.phantom.com: `phantom.app/ul/browse/<address>?ref=<who sends>` */
  Phantom: (url: URL): string =>
    `https://phantom.app/ul/browse/${encodeURIComponent(url.href)}?ref=${encodeURIComponent(url.origin)}`,
} as const
