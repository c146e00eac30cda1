import { Trans } from '@lingui/react/macro'
import { explorerLink } from '#contract/network.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { ProgressCard } from '../../../payment-flow/steps/ProgressCard.tsx'
import { progressOf } from './progress-words.ts'
import type { PurchaseView } from './use-purchase.ts'

/** Where the money is, told by this browser's own node. */
export function PaidCard({ view }: { view: PurchaseView }) {
  const { state, visit } = view
  const network = useNetwork(state.order.network)
  if (!('sent' in state)) return null
  const landed = 'landed' in state ? state.landed : null
  const { order } = state
  return (
    <ProgressCard
      aside={
        <Amount
          atomic={order.amountAtomic}
          decimals={order.asset.decimals}
          exact
          size="md"
          symbol={order.asset.symbol}
        />
      }
      progress={progressOf(state, visit.way)}
    >
      <Facts className="mt-4 border-t border-line pt-3">
        <Fact name={<Trans>To</Trans>} long>
          <Address copy full value={order.recipient} />
        </Fact>
        <Fact name={<Trans>Network</Trans>}>{network?.name ?? order.network}</Fact>
        {landed && (
          <Fact name={<Trans>Transaction</Trans>} long>
            <Address
              copy
              full
              href={network && explorerLink(network, 'tx', landed.signature)}
              noun="transaction"
              value={landed.signature}
            />
          </Fact>
        )}
      </Facts>
    </ProgressCard>
  )
}
