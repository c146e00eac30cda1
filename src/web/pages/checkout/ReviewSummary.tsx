import { Trans } from '@lingui/react/macro'
import { findEntry } from '../../address-book/store.ts'
import type { PaymentOrder } from '../../payment/order.ts'
import { useConfig, useNetwork } from '../../shell/use-config.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'

export type ReviewSummaryProps = {
  order: PaymentOrder
  /** "at most 0.000005 SOL". */
  fee: string | undefined
  /** Then it tells only what was asked for. */
  blocked: boolean
}

/** The payment in one sentence. */
export function ReviewSummary({ order, fee, blocked }: ReviewSummaryProps) {
  const network = useNetwork(order.network)
  const { sellerWallets } = useConfig()
  const networkName = network?.name ?? order.network
  const name = findEntry(order.recipient)?.name
  return (
    <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
      <p className="text-sm text-muted">{blocked ? <Trans>You asked to send</Trans> : <Trans>You send</Trans>}</p>
      <Amount atomic={order.amountAtomic} decimals={order.asset.decimals} exact size="xl" symbol={order.asset.symbol} />
      <p className="mt-2 text-sm text-muted">
        {sellerWallets.includes(order.recipient) && (
          <span className="block font-medium text-ink">
            <Trans>To the seller</Trans>
          </span>
        )}
        {name !== undefined && (
          <span className="block font-medium text-ink">
            <Trans>To {name}, in your address book</Trans>
          </span>
        )}
        {fee && !blocked ? (
          <Trans>
            to <Address copy full value={order.recipient} /> on <span className="font-medium text-ink">{networkName}</span>, and pay{' '}
            <span className="font-medium text-ink">{fee}</span> to the network.
          </Trans>
        ) : (
          <Trans>
            to <Address copy full value={order.recipient} /> on <span className="font-medium text-ink">{networkName}</span>.
          </Trans>
        )}
      </p>
    </div>
  )
}
