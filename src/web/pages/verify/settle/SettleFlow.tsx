import { Trans } from '@lingui/react/macro'
import { useEffect, useRef } from 'react'
import { explorerLink } from '#contract/network.ts'
import { canRebuild, isPaid } from '../../../payment/machine.ts'
import type { PaymentOrder } from '../../../payment/order.ts'
import type { PaymentRun } from '../../../payment/run.ts'
import { useNetwork } from '../../../shell/use-config.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { toneClass } from '../../../ui/Badge.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { cx } from '../../../ui/cx.ts'
import { Icon } from '../../../ui/Icon.tsx'
import { Spinner } from '../../../ui/Spinner.tsx'
import { BuildStep } from '../../checkout/BuildStep.tsx'
import { ReviewStep } from '../../checkout/ReviewStep.tsx'
import { StepHeading } from '../../checkout/StepHeading.tsx'
import { useRunState } from '../../checkout/use-run.ts'
import { WalletStep } from '../../checkout/WalletStep.tsx'
import { settleProgress } from './words.ts'

export type SettleFlowProps = { run: PaymentRun; onLeave: () => void; onDone: () => void }

/** Review, wallet, chain: the same steps as a payment, for collecting one. */
export function SettleFlow({ run, onLeave, onDone }: SettleFlowProps) {
  const state = useRunState(run)
  const { order } = state
  const network = useNetwork(order.network)
  const paid = isPaid(state)
  const done = useRef(onDone)
  useEffect(() => {
    done.current = onDone
  }, [onDone])
  useEffect(() => {
    // Once is enough: the reader sees the new verdict above.
    if (paid) done.current()
  }, [paid])
  const leave = () => void run.cancel().then(onLeave)
  switch (state.step) {
    case 'draft':
    case 'building':
    case 'expired_unsigned':
    case 'cancelled':
      return <BuildStep onChange={leave} onStart={leave} run={run} state={state} />
    case 'review':
    case 'rejected':
      return <ReviewStep key={state.attempt} onChange={leave} run={run} state={state} summary={<Summary order={order} />} />
    case 'awaiting_wallet':
      return <WalletStep onChange={leave} state={state} />
    default: {
      const { title, body, tone, icon, working } = settleProgress(state)
      const { landed } = 'landed' in state ? state : { landed: null }
      return (
        <Card>
          <div className="flex items-start gap-4">
            <span className={cx('inline-flex size-10 shrink-0 items-center justify-center rounded-full', toneClass[tone])}>
              {working ? <Spinner /> : <Icon name={icon} size={20} />}
            </span>
            <div className="min-w-0">
              <StepHeading>{title}</StepHeading>
              <p className="text-sm text-muted">{body}</p>
              {landed && (
                <p className="mt-2 text-sm text-muted">
                  <Trans>Transaction</Trans>{' '}
                  <Address copy full href={network && explorerLink(network, 'tx', landed.signature)} noun="transaction" value={landed.signature} />
                </p>
              )}
            </div>
          </div>
          {canRebuild(state) && (
            <Button className="mt-4" onClick={onLeave}>
              <Trans>Back to the proof</Trans>
            </Button>
          )}
        </Card>
      )
    }
  }
}

/** What the payee is about to do, in one sentence. */
function Summary({ order }: { order: PaymentOrder }) {
  const network = useNetwork(order.network)
  const networkName = network?.name ?? order.network
  const { deed } = order
  if (deed?.kind === 'acknowledge') {
    return (
      <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
        <p className="text-lg font-semibold">
          <Trans>You write a receipt on {networkName}</Trans>
        </p>
        <p className="mt-2 text-sm text-muted">
          <Trans>It tells the payer and everybody that you have this payment. It moves nothing; you pay the network fee.</Trans>
        </p>
      </div>
    )
  }
  const recipient = <Address copy full value={order.recipient} />
  return (
    <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
      <p className="text-sm text-muted">
        <Trans>You collect</Trans>
      </p>
      <Amount atomic={order.amountAtomic} decimals={order.asset.decimals} exact size="xl" symbol={order.asset.symbol} />
      <p className="mt-2 text-sm text-muted">
        {deed?.kind === 'settle' && deed.way === 'broadcast' ? (
          <Trans>
            into {recipient} on {networkName}. The payer has signed it and pays the network fee.
          </Trans>
        ) : (
          <Trans>
            into {recipient} on {networkName}. You pay the network fee.
          </Trans>
        )}
      </p>
    </div>
  )
}
