import { Trans } from '@lingui/react/macro'
import { findAsset } from '#contract/network.ts'
import type { AnyLink } from '../../api/links.ts'
import { useNetwork } from '../../api/use-config.ts'
import { formatPrice } from '../../locales/formats.ts'
import { Amount } from '../../ui/Amount.tsx'

/** What a link asks for: an amount of one currency, a price, or what the customer chooses. */
export function LinkAmount({ link, size }: { link: AnyLink; size: 'md' | 'lg' }) {
  const terms = 'short' in link ? undefined : link.terms
  const network = useNetwork(terms?.network ?? '')
  const asset = network && findAsset(network, terms?.asset)
  if (terms && terms.amountAtomic !== null && asset)
    return (
      <Amount
        atomic={terms.amountAtomic}
        decimals={asset.decimals}
        exact
        size={size}
        symbol={asset.symbol}
      />
    )
  const price = 'short' in link ? link.short.price : null
  if (price) return <span className="figures">{formatPrice(price.amount, price.currency)}</span>
  return <Trans>The payer chooses the amount</Trans>
}
