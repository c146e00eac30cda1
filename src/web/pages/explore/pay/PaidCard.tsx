import { Trans } from '@lingui/react/macro'
import { explorerLink } from '#contract/network.ts'
import { isPaid } from '../../../payment/machine.ts'
import { useNetwork } from '../../../shell/use-config.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { toneClass } from '../../../ui/Badge.tsx'
import { Card } from '../../../ui/Card.tsx'
import { cx } from '../../../ui/cx.ts'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Spinner } from '../../../ui/Spinner.tsx'
import { StepHeading } from '../../checkout/StepHeading.tsx'
import { progressOf } from './progress-words.ts'
import type { VisitView } from './use-visit.ts'

/** Where the money is, told by this browser's own node. */
export function PaidCard({ view }: { view: VisitView }) {
  const { state, visit } = view
  const network = useNetwork(state.order.network)
  if (!('sent' in state)) return null
  const { title, body, tone, icon, working } = progressOf(state, visit.way)
  const landed = 'landed' in state ? state.landed : null
  const { order } = state
  return (
    <Card>
      <div className="flex items-start gap-4">
        <span className={cx('inline-flex size-10 shrink-0 items-center justify-center rounded-full', toneClass[tone])}>
          {working && !isPaid(state) ? <Spinner /> : <Icon name={icon} size={20} />}
        </span>
        <div className="min-w-0 flex-1">
          <StepHeading>{title}</StepHeading>
          <p className="text-sm text-muted">{body}</p>
        </div>
        <Amount atomic={order.amountAtomic} decimals={order.asset.decimals} exact size="md" symbol={order.asset.symbol} />
      </div>
      <Facts className="mt-4 border-t border-line pt-3">
        <Fact name={<Trans>To</Trans>} under="narrow">
          <Address copy full value={order.recipient} />
        </Fact>
        <Fact name={<Trans>Network</Trans>}>{network?.name ?? order.network}</Fact>
        {landed && (
          <Fact name={<Trans>Transaction</Trans>} under="narrow">
            <Address copy full href={network && explorerLink(network, 'tx', landed.signature)} noun="transaction" value={landed.signature} />
          </Fact>
        )}
      </Facts>
    </Card>
  )
}
