import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect } from 'react'
import { canRebuild, isPaid } from '../../../payment/machine.ts'
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

export type SettleFlowProps = { run: PaymentRun; onLeave: () => void; onDone: () => void }

/** Review, wallet, chain: the same steps as a payment, for collecting one. */
export function SettleFlow({ run, onLeave, onDone }: SettleFlowProps) {
  const { t } = useLingui()
  const state = useRunState(run)
  const { order } = state
  const network = useNetwork(order.network)
  const paid = isPaid(state)
  useEffect(() => {
    if (paid) onDone()
    // Once is enough: the reader sees the new verdict below.
    // eslint-disable-next-line react/exhaustive-deps
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
      return (
        <ReviewStep
          key={state.built.paymentId}
          onChange={leave}
          run={run}
          state={state}
          summary={
            <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
              <p className="text-sm text-muted">
                <Trans>You collect</Trans>
              </p>
              <Amount atomic={order.amountAtomic} decimals={order.asset.decimals} exact size="xl" symbol={order.asset.symbol} />
              <p className="mt-2 text-sm text-muted">
                <Trans>
                  into <Address copy full value={order.recipient} /> on {network?.name ?? order.network}. You pay the network fee.
                </Trans>
              </p>
            </div>
          }
        />
      )
    case 'awaiting_wallet':
      return <WalletStep onChange={leave} state={state} />
    default:
      return (
        <Card>
          <div className="flex items-start gap-4">
            <span className={cx('inline-flex size-10 shrink-0 items-center justify-center rounded-full', toneClass[paid ? 'good' : 'info'])}>
              {paid ? <Icon name="checkDouble" size={20} /> : <Spinner />}
            </span>
            <div>
              <StepHeading>{paid ? t`Collected` : state.step === 'failed' ? t`It can no longer be collected` : t`On its way`}</StepHeading>
              <p className="text-sm text-muted">
                {paid ? (
                  <Trans>The payer’s authorization was carried out. The money is yours.</Trans>
                ) : state.step === 'failed' ? (
                  <Trans>The authorization ran out, or the payer took it back. Nothing moved.</Trans>
                ) : (
                  <Trans>Your node is watched until the token has carried it out.</Trans>
                )}
              </p>
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
