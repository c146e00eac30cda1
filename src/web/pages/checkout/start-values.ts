import { maxFeeAtomic as maxFeeOnEvm } from '#chains/evm/fee.ts'
import { maxFeeAtomic as maxFeeOnSolana } from '#chains/solana/fee.ts'
import { parseAddress } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import type { PublicConfig } from '#contract/browser-endpoints.ts'
import { familyOf, nativeAsset, type Network } from '#contract/network.ts'
import { serverNow } from '../../clock.ts'
import type { SearchOf } from '../../paths.ts'
import type { PaymentOrder } from '../../payment/order.ts'
import type { ConnectedAccount } from '../../wallet/accounts.ts'
import { rememberedWallet } from '../../wallet/remembered.ts'
import { readAmount, readRecipient, type Fields } from './fields.ts'

/** A Solana account that keeps less than this is refused; the fee payer's account must keep it or be emptied exactly. */
const RENT_MINIMUM_LAMPORTS = 890_880n

/** What "max" leaves in the account: the most a payment may cost beside the amount, and on Solana the rent minimum. */
export function reserveOf(network: Network): bigint {
  return familyOf(network.network) === 'evm' ? maxFeeOnEvm() : maxFeeOnSolana() + RENT_MINIMUM_LAMPORTS
}

/** How the form starts: with a payment that is changed, or with what the address asks for. A single seller wallet is filled in. */
export function startValues(
  previous: PaymentOrder | undefined,
  search: SearchOf<'checkout'>,
  { networks, sellerWallets }: Pick<PublicConfig, 'networks' | 'sellerWallets'>,
): Fields {
  if (previous) return fieldsOf(previous)
  const to = search.to === undefined ? undefined : parseAddress(readRecipient(search.to))
  const named = networks.find((each) => each.network === search.network)
  const fitting = to?.ok ? networks.find((each) => familyOf(each.network) === to.family) : undefined
  // Whoever comes back pays where their wallet is.
  const usual = networks.find((each) => rememberedWallet(familyOf(each.network)) !== undefined)
  const network = named ?? fitting ?? usual ?? networks[0]
  const sellers = network ? sellersOn(network, sellerWallets) : []
  return {
    network: network?.network ?? '',
    recipient: search.to ?? (sellers.length === 1 ? (sellers[0] ?? '') : ''),
    amount: search.amount ?? '',
    resource: search.resource ?? '',
    description: search.description ?? '',
    reference: search.reference ?? '',
    priorityFee: '',
  }
}

/** The seller's wallets that can be paid on a network. */
export function sellersOn(network: Network, sellerWallets: readonly string[]): string[] {
  return sellerWallets.filter((wallet) => {
    const parsed = parseAddress(wallet)
    return parsed.ok && parsed.family === familyOf(network.network)
  })
}

/** The recipient after the network changed: a seller's wallet gives way to the seller's wallet there; anything typed stays. */
export function recipientOn(networks: readonly Network[], fields: Fields, sellerWallets: readonly string[]): string {
  const network = networks.find((each) => each.network === fields.network)
  const sellers = network ? sellersOn(network, sellerWallets) : []
  const typed = fields.recipient !== '' && !sellerWallets.includes(fields.recipient)
  if (typed || sellers.includes(fields.recipient)) return fields.recipient
  return sellers.length === 1 ? (sellers[0] ?? '') : ''
}

/** The order of checked fields. Its id is made here, before anything is asked of anyone. */
export function orderOf(fields: Fields, network: Network, account: ConnectedAccount): PaymentOrder {
  const asset = nativeAsset(network)
  const [recipient, amount] = [parseAddress(readRecipient(fields.recipient)), readAmount(fields.amount, asset)]
  const priorityFee = fields.priorityFee.trim() === '' ? undefined : readAmount(fields.priorityFee, asset)
  if (!recipient.ok || !amount.ok || (priorityFee && !priorityFee.ok)) throw new Error('The form was submitted before it was checked.')
  return {
    id: crypto.randomUUID(),
    createdAt: serverNow(),
    network: network.network,
    asset,
    sender: account.address,
    recipient: recipient.address,
    amountAtomic: amount.atomic,
    walletName: account.walletName,
    ...(priorityFee && { priorityFeeAtomic: priorityFee.atomic }),
    ...optional('resource', fields.resource),
    ...optional('description', fields.description),
    ...optional('reference', fields.reference),
  }
}

function fieldsOf({ network, asset, recipient, amountAtomic, priorityFeeAtomic, resource = '', description = '', reference = '' }: PaymentOrder): Fields {
  const text = (atomic: bigint) => formatAmount(atomic, asset.decimals)
  return {
    network,
    recipient,
    resource,
    description,
    reference,
    amount: text(amountAtomic),
    priorityFee: priorityFeeAtomic === undefined ? '' : text(priorityFeeAtomic),
  }
}

function optional<K extends string>(key: K, text: string): Partial<Record<K, string>> {
  const value = text.trim()
  // The key is the one that was passed in; a computed key widens to string.
  return value === '' ? {} : ({ [key]: value } as Record<K, string>)
}
