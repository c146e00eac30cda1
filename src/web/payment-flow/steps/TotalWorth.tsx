import { useQuery } from '@tanstack/react-query'
import { parseAmount } from '#contract/amount.ts'
import type { Asset } from '#contract/network.ts'
import { RATE_DECIMALS, worthAtRate, type RateQuote } from '#contract/quote.ts'
import { useConfig } from '../../api/use-config.ts'
import { formatWorth, ratesQuery } from '../Worth.tsx'

type Money = {
  /** Atomic units of an asset of the configured networks. */
  atomic: bigint
  asset: Pick<Asset, 'decimals' | 'symbol'>
}

export type TotalWorthProps = Money & {
  /** What this amount was quoted at: then that is its worth. */
  quote?: Pick<RateQuote, 'amount' | 'currency'> | undefined
  /** What is paid beside it, in another currency. */
  fee?: Money
  /** Nothing is shown in another currency than this one. */
  only?: string | undefined
}

/** What amounts are worth now, or nothing where one of them has no rate. For people to read: no payment is compared with it. */
export function TotalWorth({ only, ...amounts }: TotalWorthProps) {
  const { currencies } = useConfig()
  const { data } = useQuery({ ...ratesQuery, enabled: currencies.length > 0 })
  if (!data?.currency || (only ?? data.currency) !== data.currency) return null
  const total = formatTotal(amounts, data.currency, data.rates)
  return total === undefined ? null : <span className="figures block text-muted">{total}</span>
}

/** All of it together, rounded up once; undefined for nothing, or where a rate is missing. */
export function formatTotal(
  { atomic, asset, quote, fee }: Pick<TotalWorthProps, 'atomic' | 'asset' | 'quote' | 'fee'>,
  currency: string,
  rates: Readonly<Record<string, string>>,
): string | undefined {
  const unitsOf = (money: Money): bigint | undefined => {
    const rate = rates[money.asset.symbol]
    if (rate === undefined || money.atomic === 0n) return undefined
    const { decimals } = money.asset
    return unitsOfPrice(worthAtRate(money.atomic, rate, { decimals, digits: RATE_DECIMALS }))
  }
  const main = quote ? unitsOfPrice(quote.amount) : unitsOf({ atomic, asset })
  const beside = fee ? unitsOf(fee) : 0n
  if (main === undefined || beside === undefined) return undefined
  return formatWorth(main + beside, RATE_DECIMALS, { rate: '1', currency })
}

function unitsOfPrice(price: string): bigint | undefined {
  const read = parseAmount(price, RATE_DECIMALS)
  return read.ok ? read.atomic : undefined
}
