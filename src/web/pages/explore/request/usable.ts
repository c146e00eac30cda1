import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { findAsset, type Asset, type Network } from '#contract/network.ts'
import type { ClientPayment as Terms } from '#x402/client/order.ts'
import {
  EIP3009_METHOD,
  methodsOf,
  NATIVE_TRANSFER_METHOD,
  PERMIT2_METHOD,
  TOKEN_TRANSFER_METHOD,
  TXID_METHOD,
} from '#x402/methods.ts'

/** How this browser pays a server's terms. */
export type Way =
  | 'transaction_then_proof'
  | 'signed_transfer'
  | 'sponsored'
  | 'transaction'
  | 'authorization'
  | 'permit'

/** The payer hands out a signature, and the seller sends it. */
export const BY_SELLER: ReadonlySet<Way> = new Set([
  'signed_transfer',
  'sponsored',
  'authorization',
  'permit',
])

/** Whether an offer can be paid here, and why not. */
export type Usable =
  | { ok: true; way: Way; network: Network; asset: Asset }
  | {
      ok: false
      reason: UnusableReason
      network: Network | undefined
      asset: Asset | undefined
      detail?: string
    }

export const UNUSABLE = {
  network: msg`Network not configured.`,
  asset: msg`Currency not configured.`,
  method: msg`Not supported by browser wallets.`,
  fee_payer: msg`The merchant cannot pay the network fee.`,
  no_fee_payer: msg`Fee payer missing.`,
  own_fee_payer: msg`You would pay the merchant’s network fee.`,
  no_memo: msg`Memo missing.`,
  no_domain: msg`Token signing domain missing.`,
  payee: msg`Recipient’s network differs.`,
  own: msg`The recipient is you.`,
  short: msg`Your balance is too low.`,
  short_fee: msg`No balance for the network fee.`,
} as const satisfies Record<string, MessageDescriptor>
export type UnusableReason = keyof typeof UNUSABLE

export type PayerBalances = { address: string; balance: (asset: Asset) => bigint | undefined }

/** Checks an offer by its terms alone. */
export function validateTerms(terms: Terms, networks: readonly Network[]): Usable {
  const network = networks.find((each) => each.network === terms.network)
  if (!network) return { ok: false, reason: 'network', network, asset: undefined }
  const asset = findAsset(network, terms.asset)
  if (!asset) return { ok: false, reason: 'asset', network, asset }
  const no = (reason: UnusableReason): Usable => ({ ok: false, reason, network, asset })
  const solana = network.network.startsWith('solana:')
  if (terms.payTo.startsWith('0x') === solana) return no('payee')
  const method = terms.method ?? methodsOf(network.network, asset)[0]
  if (asset.native && solana && terms.memo === null) return no('no_memo')
  if (asset.native && method === TXID_METHOD) {
    if (solana && terms.feePayer !== null) return no('fee_payer')
    return { ok: true, way: solana ? 'transaction' : 'transaction_then_proof', network, asset }
  }
  if (asset.native && method === NATIVE_TRANSFER_METHOD)
    return {
      ok: true,
      way: terms.feePayer === null ? 'signed_transfer' : 'sponsored',
      network,
      asset,
    }
  if (solana && method === TOKEN_TRANSFER_METHOD)
    return terms.feePayer === null
      ? no('no_fee_payer')
      : { ok: true, way: 'sponsored', network, asset }
  if (asset.native || solana) return no('method')
  if (method === PERMIT2_METHOD) return { ok: true, way: 'permit', network, asset }
  if (method !== EIP3009_METHOD) return no('method')
  return typeof terms.extra.name === 'string' && typeof terms.extra.version === 'string'
    ? { ok: true, way: 'authorization', network, asset }
    : no('no_domain')
}

/** The payer signs the whole transaction and pays its network fee; for the others the seller does. */
export const PAYS_FEE: ReadonlySet<Way> = new Set([
  'transaction_then_proof',
  'signed_transfer',
  'transaction',
])

/**
 * Checks an offer for an account and its balances; unknown balances do not block, the review reads
 * them again.
 */
export function validateForPayer(
  terms: Terms,
  usable: Usable,
  holdings: PayerBalances | undefined,
): Usable {
  if (!usable.ok || !holdings) return usable
  const { network, asset, way } = usable
  if (terms.payTo === holdings.address) return { ok: false, reason: 'own', network, asset }
  if (way === 'sponsored' && terms.feePayer === holdings.address)
    return { ok: false, reason: 'own_fee_payer', network, asset }
  const balance = holdings.balance(asset)
  if (balance !== undefined && balance < terms.amountAtomic)
    return { ok: false, reason: 'short', network, asset }
  // Native currency pays its own fee on top.
  if (asset.native && PAYS_FEE.has(way) && balance !== undefined && balance === terms.amountAtomic)
    return { ok: false, reason: 'short_fee', network, asset }
  return usable
}
