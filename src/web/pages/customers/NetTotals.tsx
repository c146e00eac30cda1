import { Plural } from '@lingui/react/macro'
import type { CustomerTotal } from '#contract/customer-endpoints.ts'
import { useConfig } from '../../api/use-config.ts'
import { Amount } from '../../ui/Amount.tsx'

const SHOWN = 3

/**
 * What stays with the merchant, one line per asset. Anybody can give a token a known symbol: assets are
 * never added up, and where a symbol comes twice, each has its network.
 */
export function NetTotals({ totals }: { totals: readonly CustomerTotal[] }) {
  const { networks } = useConfig()
  const twice = (symbol: string) => totals.filter((each) => each.symbol === symbol).length > 1
  return (
    <>
      {totals.slice(0, SHOWN).map((total) => (
        <span className="block" key={`${total.network} ${total.asset}`}>
          <Amount atomic={netOf(total)} decimals={total.decimals} symbol={total.symbol} />
          {twice(total.symbol) && (
            <span className="block text-xs text-muted">
              {networks.find(({ network }) => network === total.network)?.name ?? total.network}
            </span>
          )}
        </span>
      ))}
      {totals.length > SHOWN && (
        <span className="block text-xs text-muted">
          <Plural one="and # more asset" other="and # more assets" value={totals.length - SHOWN} />
        </span>
      )}
    </>
  )
}

/** May be negative: a payment can be rolled back after it was refunded. */
export function netOf({ receivedAtomic, refundedAtomic }: CustomerTotal): bigint {
  return BigInt(receivedAtomic) - BigInt(refundedAtomic)
}
