import { Trans } from '@lingui/react/macro'
import { useEffect } from 'react'
import { canRebuild, isPaid } from '../../../payment-flow/machine.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { ProgressCard } from '../../../payment-flow/steps/ProgressCard.tsx'
import { RunSteps } from '../../../payment-flow/steps/RunSteps.tsx'
import { StepHeading } from '../../../payment-flow/steps/StepHeading.tsx'
import { useRunState } from '../../../payment-flow/steps/use-run.ts'
import { useStepFocus } from '../../../payment-flow/steps/use-step-focus.ts'
import { allowanceProgress } from './allowance-words.ts'
import { useAllowance } from './use-allowance.ts'
import type { Purchase } from './purchase.ts'

export type AllowanceStepProps = { visit: Purchase; payment: PaymentRun; onLeave: () => void }

/**
 * Before a permit is signed: whether Permit2 may take the amount, and if not, the one transaction
 * that allows it.
 */
export function AllowanceStep({ visit, payment, onLeave }: AllowanceStepProps) {
  const { allowance, look, renew, run } = useAllowance(visit, payment)
  const { asset } = payment.state().order
  const { symbol } = asset
  switch (allowance) {
    case 'enough':
    case 'reading':
      return (
        <Card>
          <div aria-busy="true">
            <StepHeading>
              <Trans>Looking whether Permit2 may take {symbol} from you</Trans>
            </StepHeading>
            <Skeleton className="mt-5 h-7 w-3/4" />
          </div>
        </Card>
      )
    case 'held':
      return (
        <Banner role="alert" tone="warn">
          <Trans>
            This request is open in another tab. Go on there, or close that tab to go on here.
          </Trans>
        </Banner>
      )
    case 'unread':
      return (
        <Card>
          <StepHeading>
            <Trans>Your connection to the network does not answer</Trans>
          </StepHeading>
          <p className="mt-1 text-sm text-muted">
            <Trans>Nothing was sent. What Permit2 may take is read first.</Trans>
          </p>
          <div className="mt-5 flex flex-wrap gap-2">
            <Button icon={<Icon name="refresh" />} onClick={look} variant="primary">
              <Trans>Try again</Trans>
            </Button>
            <Button onClick={onLeave}>
              <Trans>Change the payment</Trans>
            </Button>
          </div>
        </Card>
      )
    case 'missing':
      return (
        run && (
          <Allowing
            key={run.state().order.id}
            look={look}
            onLeave={onLeave}
            renew={renew}
            run={run}
          />
        )
      )
  }
}

type AllowingProps = { run: PaymentRun; look: () => void; renew: () => void; onLeave: () => void }

/** The transaction that allows it, in the usual payment steps. */
function Allowing({ run, look, renew, onLeave }: AllowingProps) {
  const state = useRunState(run)
  const paid = isPaid(state)
  const over = state.step === 'failed'
  useEffect(() => {
    // No matter what the wallet sent, the current allowance decides.
    if (paid || over) look()
  }, [paid, over, look])
  const container = useStepFocus('sent' in state ? 'chain' : state.step)
  return (
    <div ref={container}>
      <RunSteps
        onLeave={onLeave}
        onOther={onLeave}
        run={run}
        state={state}
        summary={<Summary run={run} />}
      >
        {'sent' in state && (
          <ProgressCard progress={allowanceProgress(state)}>
            {over && (
              <Button
                className="mt-4"
                icon={<Icon name="refresh" />}
                onClick={canRebuild(state) ? () => void run.rebuild() : renew}
                variant="primary"
              >
                <Trans>Prepare it again</Trans>
              </Button>
            )}
          </ProgressCard>
        )}
      </RunSteps>
    </div>
  )
}

function Summary({ run }: { run: PaymentRun }) {
  const { order } = run.state()
  const networkName = useNetwork(order.network)?.name ?? order.network
  return (
    <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
      <p className="text-sm text-muted">
        <Trans>First you let Permit2 take at most</Trans>
      </p>
      <Amount
        atomic={order.amountAtomic}
        decimals={order.asset.decimals}
        exact
        size="xl"
        symbol={order.asset.symbol}
      />
      <p className="mt-2 text-sm text-muted">
        <Trans>
          from your account on {networkName}, and only where you sign for it. This moves nothing but
          the network fee; the payment itself comes after it.
        </Trans>
      </p>
      <p className="mt-2 text-sm text-muted">
        <Trans>
          Permit2 is the contract <Address copy full value={order.recipient} />
        </Trans>
      </p>
    </div>
  )
}
