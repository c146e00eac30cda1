import { useEffect } from 'react'
import type { PaymentState } from '../../payment-flow/machine.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { announce } from '../../ui/announce.tsx'
import { ProgressStep } from './ProgressStep.tsx'
import { RunSteps } from '../../payment-flow/steps/RunSteps.tsx'
import { Steps, type StepName } from '../../payment-flow/steps/Steps.tsx'
import { useRunState } from '../../payment-flow/steps/use-run.ts'
import { useStepFocus } from '../../payment-flow/steps/use-step-focus.ts'
import { describeState } from '../../payment-flow/steps/words.ts'

/** Back to the form: `change` keeps the inputs, `again` does too but for the reference, `after` begins another payment. */
export type StartOver =
  | { change: WalletPaymentIntent }
  | { again: WalletPaymentIntent }
  | { after: WalletPaymentIntent }

export type FlowProps = {
  run: PaymentRun
  onStartOver: (from: StartOver) => void
  /** The same payment from another account. */
  onStart: (order: WalletPaymentIntent) => Promise<void>
}

/** One payment from its first request to its receipt: shows what the machine says, and lets the person do what it allows. */
export function Flow({ run, onStartOver, onStart }: FlowProps) {
  const state = useRunState(run)
  const stage = stageOf(state)
  const container = useStepFocus(screenOf(state))

  // What was sent is told by its own screen, which knows more than the state.
  const words = 'sent' in state ? undefined : describeState(state)
  useEffect(() => {
    if (words !== undefined) announce(words)
  }, [words])

  return (
    <div ref={container}>
      <Steps current={stage} />
      <RunSteps
        onLeave={() => onStartOver({ change: state.order })}
        onOther={(order) => void onStart(order)}
        run={run}
        state={state}
      >
        {'sent' in state && <ProgressStep onStartOver={onStartOver} run={run} state={state} />}
      </RunSteps>
    </div>
  )
}

function stageOf({ step }: Pick<PaymentState, 'step'>): StepName {
  if (step === 'draft' || step === 'cancelled') return 'details'
  if (
    step === 'building' ||
    step === 'review' ||
    step === 'rejected' ||
    step === 'expired_unsigned'
  )
    return 'review'
  return step === 'awaiting_wallet' ? 'wallet' : 'done'
}

/** States that share a heading. */
function screenOf({ step }: PaymentState): string {
  if (step === 'rejected') return 'review'
  return stageOf({ step }) === 'done' ? 'done' : step
}
