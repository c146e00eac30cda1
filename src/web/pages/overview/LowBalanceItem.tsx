import { Trans } from '@lingui/react/macro'
import { nativeAsset } from '#contract/network.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { Amount } from '../../ui/Amount.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { InboxItem } from './InboxItem.tsx'
import type { LowBalance } from './low-balances.ts'

/** A managed wallet below its threshold, and where to send money. */
export function LowBalanceItem({
  low: { network, wallet, name, balanceAtomic, thresholdAtomic },
}: {
  low: LowBalance
}) {
  const { decimals, symbol } = nativeAsset(network)
  const place = network.name
  return (
    <InboxItem
      action={
        <Link
          className={buttonClass({ size: 'sm' })}
          to={pathTo('balances', { search: { wallet, network: network.network } })}
        >
          <Trans>Top up</Trans>
        </Link>
      }
      icon="wallet"
      title={
        <Trans>
          Low balance: {name} on {place}
        </Trans>
      }
      tone="warn"
    >
      <Trans>
        <Amount atomic={balanceAtomic} decimals={decimals} symbol={symbol} /> of at least{' '}
        <Amount atomic={thresholdAtomic} decimals={decimals} symbol={symbol} />
      </Trans>
    </InboxItem>
  )
}
