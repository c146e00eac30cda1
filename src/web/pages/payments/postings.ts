import { NATIVE_ETH, NATIVE_SOL } from '#contract/network.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { quoteOf } from '#contract/quote.ts'

/** A quantity of one asset of one network. Amounts of different commodities are never added up. */
export type Commodity = {
  name: string
  symbol: string
  network: string
  /** Of a token; null for the native currency. */
  asset: string | null
  decimals: number
}

export type Posting = {
  account: string
  commodity: Commodity
  /** Signed: what an account gains is positive. */
  atomic: bigint
  /** Signed, at the quoted rate; null where nobody quoted one. */
  fiat: { amount: string; currency: string } | null
}

const SALES = 'income:sales'
const REFUNDS = 'income:refunds'
const PURCHASES = 'expenses:payments'
const FEES = 'expenses:network fees'
const TRANSFERS = 'equity:internal transfers'

/**
 * What a payment moved in the accounts of its reader, by double entry: the postings of each
 * commodity add up to 0. None for what moved nothing of theirs. A transaction that failed has cost
 * its network fee.
 */
export function postingsOf(row: PaymentRow): Posting[] {
  return [...(isPaid(row.status) ? amountPostings(row) : []), ...feePostings(row)]
}

function amountPostings(row: PaymentRow): Posting[] {
  const [from, to] = [walletAccount(row, row.sender), walletAccount(row, row.recipient)]
  switch (row.type) {
    case 'received':
      return move(row, row.refundOf === null ? SALES : PURCHASES, to)
    case 'sent':
      return move(row, from, row.refundOf === null ? PURCHASES : REFUNDS)
    case 'internal':
      return [...move(row, from, TRANSFERS), ...move(row, TRANSFERS, to)]
    case 'external':
      return []
  }
}

function move(row: PaymentRow, from: string, to: string): Posting[] {
  const quote = quoteOf(row.metadata)
  const commodity = commodityOf(row)
  const posting = (account: string, sign: 1n | -1n): Posting => ({
    account,
    commodity,
    atomic: BigInt(row.amountAtomic) * sign,
    fiat: quote
      ? { amount: sign < 0n ? `-${quote.amount}` : quote.amount, currency: quote.currency }
      : null,
  })
  return [posting(to, 1n), posting(from, -1n)]
}

function feePostings({ fee, network }: PaymentRow): Posting[] {
  if (!fee?.own || fee.payer === null || BigInt(fee.amountAtomic) === 0n) return []
  const commodity = nativeCommodity(network, fee)
  const atomic = BigInt(fee.amountAtomic)
  return [
    { account: FEES, commodity, atomic, fiat: null },
    { account: walletAccount({ network }, fee.payer), commodity, atomic: -atomic, fiat: null },
  ]
}

/** A colon would open a level below. */
export function walletAccount({ network }: Pick<PaymentRow, 'network'>, address: string): string {
  return `assets:${network.replaceAll(':', '-')}:${address}`
}

/** The symbol of a token is its issuer's choice, so its address is part of the name. */
export function commodityOf(row: PaymentRow): Commodity {
  const { network, asset, symbol, decimals } = row
  if (isNative(row)) return nativeCommodity(network, row)
  return { name: `${plain(symbol)}@${network}/${asset}`, symbol, network, asset, decimals }
}

function nativeCommodity(
  network: string,
  { symbol, decimals }: { symbol: string; decimals: number },
): Commodity {
  return { name: `${plain(symbol)}@${network}`, symbol, network, asset: null, decimals }
}

/** Both sentinels are no address of a token. */
function isNative({ asset, network }: PaymentRow): boolean {
  return asset === (network.startsWith('eip155:') ? NATIVE_ETH.address : NATIVE_SOL.address)
}

/** Nothing that ends a quoted name or a line. */
function plain(symbol: string): string {
  return symbol.replace(/[^\p{L}\p{N}.$₮-]/gu, '')
}
