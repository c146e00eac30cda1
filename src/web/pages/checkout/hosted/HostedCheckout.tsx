import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef } from 'react'
import type { HostedWallet } from '#contract/hosted-endpoints.ts'
import { announce } from '../../../ui/announce.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { StepHeading } from '../../../payment-flow/steps/StepHeading.tsx'
import { Steps, type StepName } from '../../../payment-flow/steps/Steps.tsx'
import { HostedForm } from './HostedForm.tsx'
import { HostedOutcome } from './HostedOutcome.tsx'
import { HostedReview } from './HostedReview.tsx'
import type { HostedState } from './machine.ts'
import { useHosted } from './use-hosted.ts'

const STEPS: Readonly<Record<HostedState['step'], StepName>> = {
  form: 'details',
  preparing: 'review',
  review: 'review',
  signing: 'wallet',
  sending: 'done',
  unknown: 'done',
  sent: 'done',
  refused: 'done',
}

/** Pays from a wallet whose key the payment service holds. The operator signs exactly what is shown; the service does the rest. */
export function HostedCheckout({ wallets }: { wallets: readonly HostedWallet[] }) {
  const { t } = useLingui()
  const hosted = useHosted()
  const { state } = hosted
  const container = useRef<HTMLDivElement>(null)
  const screen = STEPS[state.step]

  useEffect(() => {
    container.current?.querySelector<HTMLElement>('[data-step-heading]')?.focus()
  }, [screen])
  const words =
    state.step === 'unknown'
      ? t`No answer yet. The same request is sent again until it is certain.`
      : state.step === 'sent'
        ? t`Sent.`
        : ''
  useEffect(() => announce(words), [words])

  return (
    <div ref={container}>
      <Steps current={screen} />
      {state.step === 'form' && (
        <HostedForm onPrepare={hosted.prepare} userError={state.userError} wallets={wallets} />
      )}
      {state.step === 'preparing' && (
        <Card>
          <div aria-busy="true">
            <StepHeading>
              <Trans>Preparing the payment</Trans>
            </StepHeading>
            <Skeleton className="mt-5 h-40" />
          </div>
        </Card>
      )}
      {(state.step === 'review' || state.step === 'signing') && (
        <HostedReview
          intent={state.intent}
          onChange={hosted.change}
          onSign={hosted.sign}
          signing={state.step === 'signing'}
          userError={state.step === 'review' ? state.userError : null}
        />
      )}
      {(state.step === 'sending' || state.step === 'unknown' || state.step === 'sent') && (
        <HostedOutcome
          intent={state.intent}
          onAnother={hosted.change}
          paymentId={state.step === 'sent' ? state.paymentId : null}
          unknown={state.step === 'unknown'}
        />
      )}
      {state.step === 'refused' && (
        <Card>
          <StepHeading>
            <Trans>Not paid</Trans>
          </StepHeading>
          <Banner className="mt-4" role="alert" title={state.userError.title} tone="warn">
            {state.userError.body}
          </Banner>
          <Button
            className="mt-5"
            icon={<Icon name="refresh" />}
            onClick={hosted.change}
            variant="primary"
          >
            <Trans>Start again</Trans>
          </Button>
        </Card>
      )}
    </div>
  )
}
