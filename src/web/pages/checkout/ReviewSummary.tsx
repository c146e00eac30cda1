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
  return (
    <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
      <p className="text-sm text-muted">{blocked ? 'You asked to send' : 'You send'}</p>
      <Amount atomic={order.amountAtomic} decimals={order.asset.decimals} exact size="xl" symbol={order.asset.symbol} />
      <p className="mt-2 text-sm text-muted">
        to {sellerWallets.includes(order.recipient) && <span className="font-medium text-ink">the seller, </span>}
        <Address copy full value={order.recipient} /> on <span className="font-medium text-ink">{network?.name ?? order.network}</span>
        {fee && !blocked && (
          <>
            , and pay <span className="font-medium text-ink">{fee}</span> to the network
          </>
        )}
        .
      </p>
    </div>
  )
}
