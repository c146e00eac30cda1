import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef, useReducer, useState } from 'react'
import type { HostedWallet } from '#contract/hosted-endpoints.ts'
import type { Network } from '#contract/network.ts'
import { useConfig } from '../../../api/use-config.ts'
import { StepHeading, Steps, type StepName } from '../../../payment-flow/steps/Steps.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { announce } from '../../../ui/announce.tsx'
import type { ConnectedAccount } from '../../../wallet/state/accounts.ts'
import { HostedForm } from './HostedForm.tsx'
import { HostedOutcome } from './HostedOutcome.tsx'
import { HostedReview } from './HostedReview.tsx'
import { type HostedState, isOut, reduceHosted } from './machine.ts'
import {
  deliver,
  forgetSend,
  prepare,
  signIntent,
  storeSigned,
  undelivered,
  type HostedOrder,
} from './send.ts'
import { startFields, type HostedFields, type HostedPrefill, type HostedRefund } from './start.ts'

const RETRY_MS = 5_000

type Hosted = {
  state: HostedState
  prepare: (order: HostedOrder, fields: HostedFields) => void
  /** What was typed last; forgotten once it was paid. */
  typed: HostedFields | undefined
  sign: (network: Network, signer: ConnectedAccount) => void
  change: () => void
}

/** Drives one payment from a managed wallet; one that an earlier visit left open first. */
function useHosted(): Hosted {
  const [state, dispatch] = useReducer(reduceHosted, { step: 'form', userError: null })
  const [typed, setTyped] = useState<HostedFields>()
  const shown = useRef(true)
  useEffect(() => {
    shown.current = true
    void undelivered().then((send) => {
      if (!send || !shown.current) return
      for (const event of [
        { type: 'prepare' },
        { type: 'prepared', intent: send.intent },
        { type: 'sign' },
        { type: 'signed', signature: send.signature },
      ] as const)
        dispatch(event)
    })
    return () => {
      shown.current = false
    }
  }, [])

  // What is signed goes out at once, and while its answer is missing again and again: always the same request.
  const out = isOut(state) ? state : undefined
  // Both are the same ones while it is out: `sending` and `unknown` are one request, so this runs once a payment.
  const [intent, signature] = [out?.intent, out?.signature]
  useEffect(() => {
    if (!intent || signature === undefined) return
    const send = { nonce: intent.nonce, intent, signature }
    let timer: ReturnType<typeof setTimeout> | undefined
    let current = true
    const attempt = async () => {
      const event = await deliver(send)
      if (!current) return
      dispatch(event)
      if (event.type === 'no_answer') timer = setTimeout(() => void attempt(), RETRY_MS)
    }
    void attempt()
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [intent, signature])

  return {
    state,
    typed,
    prepare: (order, fields) => {
      setTyped(fields)
      dispatch({ type: 'prepare' })
      void prepare(order).then(dispatch)
    },
    sign: (network, signer) => {
      if (state.step !== 'review') return
      dispatch({ type: 'sign' })
      void signIntent(state.intent, network, signer).then(async (event) => {
        // Who left meanwhile does not expect that it is sent.
        if (!shown.current) return
        dispatch(event.type === 'signed' ? await storeSigned(state.intent, event) : event)
      })
    },
    change: () => {
      if (state.step === 'sent') setTyped(undefined)
      if (state.step === 'unanswered') void forgetSend(state.intent.nonce)
      dispatch({ type: 'change' })
    },
  }
}

const SCREENS: Readonly<Record<HostedState['step'], StepName>> = {
  form: 'details',
  preparing: 'review',
  review: 'review',
  signing: 'wallet',
  sending: 'done',
  unknown: 'done',
  sent: 'done',
  refused: 'done',
  unanswered: 'done',
}

/** Nothing is done while it is not known what became of the payment. */
const OPEN: ReadonlySet<HostedState['step']> = new Set(['sending', 'unknown', 'unanswered'])

/** Pays from a wallet whose key the payment service holds. The operator signs exactly what is shown; the service does the rest. */
export function HostedCheckout({
  wallets,
  prefill,
  refund,
  onSigned,
  begin = false,
}: {
  wallets: readonly HostedWallet[]
  prefill: HostedPrefill
  refund?: HostedRefund
  /** What is signed may be paid: the address must not prepare it again. */
  onSigned?: () => void
  /** Prepares the refund at once, where it is complete. */
  begin?: boolean
}) {
  const { t } = useLingui()
  const { networks } = useConfig()
  const hosted = useHosted()
  const { state } = hosted
  const container = useRef<HTMLDivElement>(null)
  const screen = SCREENS[state.step]

  useEffect(() => {
    container.current?.querySelector<HTMLElement>('[data-step-heading]')?.focus()
  }, [screen])
  const signed = isOut(state)
  useEffect(() => {
    if (signed) onSigned?.()
  }, [signed, onSigned])
  const words =
    state.step === 'unknown'
      ? `${t`No answer yet.`} ${t`Do not pay again.`}`
      : state.step === 'sent'
        ? t`Sent.`
        : ''
  useEffect(() => announce(words), [words])

  return (
    <div ref={container}>
      <Steps current={OPEN.has(state.step) ? 'wallet' : screen} />
      {state.step === 'form' && (
        <HostedForm
          begin={begin && hosted.typed === undefined}
          refund={refund}
          field={state.field}
          onPrepare={hosted.prepare}
          start={hosted.typed ?? startFields(wallets, networks, { prefill, refund })}
          userError={state.userError}
          wallets={wallets}
        />
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
      {(isOut(state) || state.step === 'sent' || state.step === 'unanswered') && (
        <HostedOutcome
          intent={state.intent}
          onAnother={hosted.change}
          paymentId={state.step === 'sent' ? state.paymentId : null}
          unanswered={state.step === 'unanswered' ? state.why : null}
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
