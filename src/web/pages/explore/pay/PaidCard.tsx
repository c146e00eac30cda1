import { Trans } from '@lingui/react/macro'
import { explorerLink } from '#contract/network.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { isPaid } from '../../../payment-flow/machine.ts'
import { ReceiptButtons } from '../../../payment-flow/steps/ReceiptButtons.tsx'
import { ProgressCard } from '../../../payment-flow/steps/ProgressCard.tsx'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Badge } from '../../../ui/Badge.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Time } from '../../../ui/Time.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'
import { PAYS_FEE } from '../request/usable.ts'
import type { PurchaseView } from './use-purchase.ts'
import { progressOf } from './words.ts'

/** Where the money is, told by this browser's own node. */
export function PaidCard({ view }: { view: PurchaseView }) {
  const { state, purchase } = view
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
      progress={progressOf(state, purchase)}
    >
      <Facts className="mt-4 border-t border-line pt-3">
        <Fact name={<Trans>For</Trans>} long>
          <UntrustedText text={purchase.resource.description || purchase.request.url} />
        </Fact>
        {landed && (
          <Fact name={<Trans>Date</Trans>}>
            <Time at={landed.blockTime ?? order.createdAt} look="full" />
          </Fact>
        )}
        <Fact name={<Trans>From</Trans>} long>
          <Address copy full value={order.sender} />
        </Fact>
        <Fact name={<Trans>To</Trans>} long>
          <Address copy full value={order.recipient} />
        </Fact>
        <Fact name={<Trans>Network</Trans>}>
          {network?.name ?? order.network}
          {network?.testnet && (
            <>
              {' '}
              <Badge tone="warn">
                <Trans>Test network</Trans>
              </Badge>
            </>
          )}
        </Fact>
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
      {isPaid(state) && (
        <div className="no-print mt-4 flex flex-wrap gap-2">
          <ReceiptButtons paperOnly={!PAYS_FEE.has(purchase.way)} primary={false} state={state} />
        </div>
      )}
    </ProgressCard>
  )
}
