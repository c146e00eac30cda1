import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { MatchRow } from '#chains/match.ts'
import { formatAmount } from '#contract/amount.ts'
import { nativeAsset } from '#contract/network.ts'
import { formatPrice } from '../../locales/formats.ts'
import { findEntry } from '../../local-data/address-book/store.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { upTo } from '../../payment-intent/fact-values.ts'
import { formatMatchFact } from '../../payment-intent/match-facts.ts'
import { useConfig, useNetwork } from '../../api/use-config.ts'
import { Address, AddressDisclosure } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { openTerms } from '../form/payment-service.ts'
import { formatWorth, Worth } from '../Worth.tsx'
import { TotalWorth } from './TotalWorth.tsx'

export type ReviewSummaryProps = {
  order: WalletPaymentIntent
  /** As the comparison found them in the transaction. */
  rows: readonly MatchRow[]
  /** Then it shows only what was asked for. */
  blocked: boolean
  /** Whether the payer is asked to check the address, so that the whole address is shown. */
  checksAddress: boolean
}

/** The payment in four lines: what is paid, to whom and for what, the network fee, and the total. */
export function ReviewSummary({ order, rows, blocked, checksAddress }: ReviewSummaryProps) {
  const { t } = useLingui()
  const network = useNetwork(order.network)
  const { sellerWallets, title } = useConfig()
  const name =
    findEntry(order.recipient)?.name ??
    (sellerWallets.includes(order.recipient) ? title : undefined)
  const { asset, amountAtomic, quote, link } = order
  // A link's page names its own above every step.
  const item = link && !openTerms(link).description ? undefined : order.description
  const reference = link ? undefined : order.reference
  const native = network ? nativeAsset(network) : asset
  const fee = rows.find(({ field }) => field === 'fee')?.got
  const rent = rows.find(({ field }) => field === 'rent')?.got
  const feeAtomic = fee?.code === 'at_most' ? shortLimit(fee.params) : 0n
  const rentAtomic = rent?.code === 'rent_at_most' ? shortLimit(rent.params) : 0n
  const costs = feeAtomic + rentAtomic
  const money = (atomic: bigint, of = native) => (
    <Amount atomic={atomic} decimals={of.decimals} exact symbol={of.symbol} />
  )
  return (
    <dl className="mt-4 divide-y divide-line rounded-lg border border-line text-sm">
      <Line name={blocked ? t`You asked to pay` : t`You pay`}>
        <Amount
          atomic={amountAtomic}
          decimals={asset.decimals}
          className="font-semibold"
          exact
          size={formatAmount(amountAtomic, asset.decimals).length > 14 ? 'sm' : 'lg'}
          symbol={asset.symbol}
        />
        {quote ? (
          <span className="block text-muted">{formatPrice(quote.amount, quote.currency)}</span>
        ) : (
          <Worth asset={asset} atomic={amountAtomic} />
        )}
      </Line>
      <Line name={t`To`}>
        {name !== undefined && <span className="block font-medium">{name}</span>}
        {checksAddress ? (
          <Address copy full value={order.recipient} />
        ) : (
          <AddressDisclosure value={order.recipient} />
        )}
        <span className="block text-muted">{network?.name ?? order.network}</span>
      </Line>
      {(item !== undefined || reference !== undefined) && (
        <Line name={t`For`}>
          {item !== undefined && <UntrustedText className="line-clamp-2" text={item} />}
          {reference !== undefined && (
            <UntrustedText className="block text-muted" text={reference} />
          )}
        </Line>
      )}
      {!blocked && fee && (
        <Line name={t`Network fee`}>
          {fee.code === 'nothing' ? (
            <Trans>Paid by another account.</Trans>
          ) : fee.code === 'at_most' ? (
            <Trans>up to {money(feeAtomic)}</Trans>
          ) : (
            formatMatchFact(fee)
          )}
          {rentAtomic > 0n && (
            <span className="block text-muted">
              <Trans>and account rent up to {money(rentAtomic)}</Trans>
            </span>
          )}
          {quote && asset.native && costs > 0n ? (
            <span className="block text-muted">
              {formatWorth(costs, asset.decimals, { ...quote, rounded: upTo })}
            </span>
          ) : (
            <TotalWorth asset={native} atomic={costs} only={quote?.currency} />
          )}
        </Line>
      )}
      {!blocked && (
        <Line name={t`Total`}>
          <span className="font-semibold">
            {costs === 0n ? (
              money(amountAtomic, asset)
            ) : asset.native ? (
              <Trans>up to {money(amountAtomic + costs)}</Trans>
            ) : (
              <Trans>
                {money(amountAtomic, asset)} and up to {money(costs)}
              </Trans>
            )}
          </span>
          {quote && (costs === 0n || asset.native) && (
            <span className="block text-muted">
              {costs === 0n
                ? formatPrice(quote.amount, quote.currency)
                : formatWorth(amountAtomic + costs, asset.decimals, { ...quote, rounded: upTo })}
            </span>
          )}
          {!quote && costs > 0n && asset.native && (
            <Worth asset={asset} atomic={amountAtomic + costs} />
          )}
          {costs > 0n && !asset.native && (
            <TotalWorth
              asset={asset}
              atomic={amountAtomic}
              fee={{ atomic: costs, asset: native }}
              only={quote?.currency}
              quote={quote}
            />
          )}
        </Line>
      )}
    </dl>
  )
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-4 px-4 py-3">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="figures min-w-0 text-end [overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}

const SHORT_DECIMALS = 6

/** A limit in six decimals, or three significant digits of less; never below the real one, which the comparison shows in full. */
function shortLimit(limit: { amountAtomic: string; decimals: number }): bigint {
  const { amountAtomic, decimals } = limit
  const dropped = Math.min(decimals - SHORT_DECIMALS, amountAtomic.length - 3)
  if (dropped <= 0) return BigInt(amountAtomic)
  const step = 10n ** BigInt(dropped)
  return ((BigInt(amountAtomic) + step - 1n) / step) * step
}
