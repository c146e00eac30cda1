import { t } from '@lingui/core/macro'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Asset } from '#contract/network.ts'
import { RATE_DECIMALS, worthAtRate } from '#contract/quote.ts'
import { callProxy } from '../api/client.ts'
import { useConfig } from '../api/use-config.ts'
import { formatPrice } from '../locales/formats.ts'
import { cx } from '../ui/button-class.ts'

const EVERY_MS = 60_000

export const ratesQuery = queryOptions({
  queryKey: ['rateList'],
  queryFn: ({ signal }) => callProxy('rateList', {}, { signal }),
  staleTime: EVERY_MS,
  refetchInterval: EVERY_MS,
})

export type WorthProps = {
  /** Atomic units of an asset of the configured networks. */
  atomic: bigint
  asset: Pick<Asset, 'decimals' | 'symbol'>
  className?: string
  /** Names a worth that is rounded. */
  rounded?: ((price: string) => string) | undefined
}

/** What an amount without a quote is worth now, or nothing where there is no rate. For people to read: no payment is compared with it. */
export function Worth({ atomic, asset, className, rounded }: WorthProps) {
  const { currencies } = useConfig()
  const { data } = useQuery({ ...ratesQuery, enabled: currencies.length > 0 })
  const rate = data?.rates[asset.symbol]
  if (!data?.currency || rate === undefined || atomic === 0n) return null
  return (
    <span className={cx('figures block text-muted', className)}>
      {formatWorth(atomic, asset.decimals, { rate, currency: data.currency, rounded })}
    </span>
  )
}

/**
 * At a rate, rounded up as people write money of this currency: in whole units of HUF, where an invoice has hundredths. What is less than the smallest coin is
 * told as less, and nothing as nothing.
 */
export function formatWorth(
  atomic: bigint,
  decimals: number,
  {
    rate,
    currency,
    rounded = (price) => t`about ${price}`,
  }: { rate: string; currency: string; rounded?: ((price: string) => string) | undefined },
): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  const price = formatPrice(worthAtRate(atomic, rate, { decimals, digits }), currency)
  if (atomic === 0n) return price
  const exact = worthAtRate(atomic, rate, { decimals, digits: RATE_DECIMALS })
  return Number(exact) < 10 ** -digits ? t`less than ${price}` : rounded(price)
}
