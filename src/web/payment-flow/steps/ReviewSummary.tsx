import { Trans } from '@lingui/react/macro'
import type { MatchFact } from '#contract/facts.ts'
import { findEntry } from '../../local-data/address-book/store.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { formatMatchFact } from '../../payment-intent/match-facts.ts'
import { useConfig, useNetwork } from '../../api/use-config.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'

export type ReviewSummaryProps = {
  order: WalletPaymentIntent
  /** What the network may take in all, as the comparison found it. */
  fee: MatchFact | undefined
  /** Then it tells only what was asked for. */
  blocked: boolean
}

/** The payment in one sentence. */
export function ReviewSummary({ order, fee, blocked }: ReviewSummaryProps) {
  const network = useNetwork(order.network)
  const { sellerWallets } = useConfig()
  const networkName = network?.name ?? order.network
  const name = findEntry(order.recipient)?.name
  const most = fee && formatMatchFact(fee)
  return (
    <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
      <p className="text-sm text-muted">
        {blocked ? <Trans>You asked to send</Trans> : <Trans>You send</Trans>}
      </p>
      <Amount
        atomic={order.amountAtomic}
        decimals={order.asset.decimals}
        exact
        size="xl"
        symbol={order.asset.symbol}
      />
      <p className="mt-3 text-sm text-muted">
        {name !== undefined ? (
          <Trans>
            to <span className="font-medium text-ink">{name}</span>, in your address book:
          </Trans>
        ) : sellerWallets.includes(order.recipient) ? (
          <Trans>
            to <span className="font-medium text-ink">the seller</span>:
          </Trans>
        ) : (
          <Trans>to this address:</Trans>
        )}
      </p>
      <p className="mt-0.5 text-ink">
        <Address copy full value={order.recipient} />
      </p>
      <p className="mt-3 text-sm text-muted">
        {most && !blocked ? (
          <Trans>
            on <span className="font-medium text-ink">{networkName}</span>. The network’s fee, which
            you pay too: <span className="font-medium text-ink">{most}</span>.
          </Trans>
        ) : (
          <Trans>
            on <span className="font-medium text-ink">{networkName}</span>.
          </Trans>
        )}
      </p>
    </div>
  )
}
