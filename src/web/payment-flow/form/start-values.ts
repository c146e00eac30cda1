import { maxFeeAtomic as maxFeeOnSolana } from '#chains/solana/fee.ts'
import { parseAddress } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import { familyOf, findAsset, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { SearchOf } from '../../router/paths.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { rememberedWallet } from '../../wallet/state/remembered.ts'
import {
  feeCapOf,
  localDecimal,
  cleanRecipient,
  writeAmount,
  type CheckoutFields,
} from './fields.ts'
import type { OpenLink } from './open-link.ts'

/**
 * A Solana account must keep at least this; the fee payer's account must keep it or be emptied
 * exactly.
 */
const RENT_MINIMUM_LAMPORTS = 890_880n

/**
 * What "max" leaves in the account: the most a payment may cost besides the amount, and on Solana
 * the rent minimum. A token leaves nothing.
 */
export function reserveOf(network: Network, asset: Asset, priorityFeeAtomic?: bigint): bigint {
  if (!asset.native) return 0n
  return familyOf(network.network) === 'evm'
    ? feeCapOf(network, asset, priorityFeeAtomic)
    : maxFeeOnSolana(priorityFeeAtomic) + RENT_MINIMUM_LAMPORTS
}

/** What the page's URL asks for, and the payment that is refunded. */
export type CheckoutPrefill = Partial<Omit<SearchOf<'checkout'>, 'payment'>> & {
  refund?: RefundedPayment
}

/** A payment that goes back, in whole or part. */
export type RefundedPayment = Pick<
  PaymentStatusBody,
  'paymentId' | 'recipient' | 'amountAtomic' | 'decimals' | 'symbol' | 'refund'
>

/** The terms of a link, as the form reads them. */
export function prefillFromLink({ terms, asset }: OpenLink): CheckoutPrefill {
  const { network, recipient, amountAtomic, resource, description, reference } = terms
  return {
    network,
    to: recipient,
    asset: asset.address,
    amount: amountAtomic === null ? undefined : formatAmount(BigInt(amountAtomic), asset.decimals),
    resource: resource ?? undefined,
    description: description ?? undefined,
    reference: reference ?? undefined,
  }
}

/**
 * The form's initial values: from a payment to be changed, or from the URL. A single seller wallet
 * is filled in.
 */
export function startValues(
  previous: WalletPaymentIntent | undefined,
  prefill: CheckoutPrefill,
  { networks, sellerWallets }: Pick<PublicConfig, 'networks' | 'sellerWallets'>,
): CheckoutFields {
  if (previous) return fieldsOf(previous, networks)
  const to = prefill.to === undefined ? undefined : parseAddress(cleanRecipient(prefill.to))
  const named = networks.find((each) => each.network === prefill.network)
  const fitting = to?.ok ? networks.find((each) => familyOf(each.network) === to.family) : undefined
  // Defaults to a network of a wallet used before.
  const usual = networks.find((each) => rememberedWallet(familyOf(each.network)) !== undefined)
  const network = named ?? fitting ?? usual ?? networks[0]
  const sellers = network ? sellersOn(network, sellerWallets) : []
  return {
    network: network?.network ?? '',
    asset: (network && (findAsset(network, prefill.asset) ?? nativeAsset(network)).address) ?? '',
    recipient: prefill.to ?? (sellers.length === 1 ? (sellers[0] ?? '') : ''),
    amount: localDecimal(prefill.amount ?? ''),
    resource: prefill.resource ?? '',
    description: prefill.description ?? '',
    reference: prefill.reference ?? '',
    email: '',
    fee: 'auto',
    priorityFee: '',
  }
}

/** The form's values when it is shown: of a link, what the payer entered before stays where the link leaves it open. */
export function formValues(
  {
    previous,
    typed,
    link,
    prefill,
  }: {
    previous: WalletPaymentIntent | undefined
    typed: CheckoutFields | undefined
    link: OpenLink | undefined
    prefill: CheckoutPrefill
  },
  config: Pick<PublicConfig, 'networks' | 'sellerWallets'>,
): CheckoutFields {
  if (!link) return startValues(previous, prefill, config)
  const entered = typed ?? (previous && fieldsOf(previous, config.networks))
  return {
    ...startValues(undefined, prefill, config),
    ...(entered && reusableValues(entered, link)),
  }
}

/**
 * What a payer typed into a link's form, for its next form: another currency, or a refreshed price.
 * What the link sets comes from the link.
 */
export function reusableValues(
  typed: CheckoutFields,
  { terms, network, asset }: Pick<OpenLink, 'terms' | 'network' | 'asset'>,
): Partial<CheckoutFields> {
  const { description, reference, email, fee, priorityFee, amount } = typed
  const sameNetwork = typed.network === network.network
  const sameAsset = sameNetwork && typed.asset === asset.address
  return {
    description,
    reference,
    email,
    ...(sameNetwork && { fee, priorityFee }),
    ...(sameAsset && terms.amountAtomic === null && { amount }),
  }
}

/** The networks where the merchant has a wallet. */
export function payableNetworks({
  networks,
  sellerWallets,
}: Pick<PublicConfig, 'networks' | 'sellerWallets'>): Network[] {
  return networks.filter((network) => sellersOn(network, sellerWallets).length > 0)
}

/**
 * Where a price that names no network may be paid, as the server decides it: on no test network beside a main one, as
 * its coins are free.
 */
export function pricedNetworks(
  config: Pick<PublicConfig, 'networks' | 'sellerWallets'>,
): Network[] {
  const onlyTests = config.networks.every(({ testnet }) => testnet)
  return payableNetworks(config).filter(({ testnet }) => onlyTests || !testnet)
}

/** What a price may be in: the currencies with a rate, then the assets by symbol. */
export function currenciesOf(
  networks: readonly Network[],
  currencies: readonly string[],
): string[] {
  const symbols = networks.flatMap(({ assets }) => assets.map(({ symbol }) => symbol))
  return [...new Set([...currencies, ...symbols])]
}

/** The seller's wallets that can be paid on a network. */
export function sellersOn(network: Network, sellerWallets: readonly string[]): string[] {
  return sellerWallets.filter((wallet) => {
    const parsed = parseAddress(wallet)
    return parsed.ok && parsed.family === familyOf(network.network)
  })
}

/**
 * The recipient after the network or the paying account changed: a seller's wallet is replaced by
 * the seller's wallet on the new network, or by none if that is the payer's `own`; anything typed
 * stays.
 */
export function recipientOn(
  networks: readonly Network[],
  fields: Pick<CheckoutFields, 'network' | 'recipient'>,
  { sellerWallets, own }: { sellerWallets: readonly string[]; own: string | undefined },
): string {
  const network = networks.find((each) => each.network === fields.network)
  const sellers = (network ? sellersOn(network, sellerWallets) : []).filter(
    (seller) => seller !== own,
  )
  const typed = fields.recipient !== '' && !sellerWallets.includes(fields.recipient)
  if (typed || sellers.includes(fields.recipient)) return fields.recipient
  return sellers.length === 1 ? (sellers[0] ?? '') : ''
}

/**
 * The asset after the network changed: the one with the same symbol there, otherwise the native
 * one.
 */
export function assetOn(network: Network, symbol: string | undefined): Asset {
  return network.assets.find((asset) => asset.symbol === symbol) ?? nativeAsset(network)
}

function fieldsOf(
  {
    network,
    asset,
    recipient,
    amountAtomic,
    priorityFeeAtomic,
    link,
    resource = '',
    description = '',
    reference = '',
  }: WalletPaymentIntent,
  networks: readonly Network[],
): CheckoutFields {
  const known = networks.find((each) => each.network === network)
  return {
    network,
    asset: asset.address,
    recipient,
    resource,
    description,
    reference,
    email: link?.email ?? '',
    amount: writeAmount(amountAtomic, asset.decimals),
    fee: priorityFeeAtomic === undefined ? 'auto' : 'custom',
    priorityFee:
      priorityFeeAtomic === undefined || !known
        ? ''
        : writeAmount(priorityFeeAtomic, nativeAsset(known).decimals),
  }
}
