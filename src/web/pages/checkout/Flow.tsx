import { useEffect, useRef, type ReactNode } from 'react'
import type { PaymentState } from '../../payment/machine.ts'
import type { PaymentOrder } from '../../payment/order.ts'
import type { PaymentRun } from '../../payment/run.ts'
import { announce } from '../../ui/announce.tsx'
import { BuildStep } from './BuildStep.tsx'
import { ProgressStep } from './ProgressStep.tsx'
import { ReviewStep } from './ReviewStep.tsx'
import { Steps, type StepName } from './Steps.tsx'
import { useRunState } from './use-run.ts'
import { WalletStep } from './WalletStep.tsx'
import { sayState } from './words.ts'

/** Back to the form: `change` keeps the inputs, `again` does too but for the reference, `after` begins another payment. */
export type StartOver = { change: PaymentOrder } | { again: PaymentOrder } | { after: PaymentOrder }

export type FlowProps = {
  run: PaymentRun
  onStartOver: (from: StartOver) => void
  /** The same payment from another account. */
  onStart: (order: PaymentOrder) => Promise<void>
}

/** One payment from its first request to its receipt: shows what the machine says, and lets the person do what it allows. */
export function Flow({ run, onStartOver, onStart }: FlowProps) {
  const state = useRunState(run)
  const stage = stageOf(state)
  const container = useRef<HTMLDivElement>(null)
  const screen = screenOf(state)

  // A new screen is a new heading: the focus goes there, so that keys and screen readers start where the page does.
  useEffect(() => {
    container.current?.querySelector<HTMLElement>('[data-step-heading]')?.focus()
  }, [screen])

  const words = sayState(state)
  useEffect(() => announce(words), [words])

  return (
    <div ref={container}>
      <Steps current={stage} />
      {showStep(state, { run, onStartOver, onStart })}
    </div>
  )
}

function stageOf({ step }: Pick<PaymentState, 'step'>): StepName {
  if (step === 'draft' || step === 'cancelled') return 'details'
  if (step === 'building' || step === 'review' || step === 'rejected' || step === 'expired_unsigned') return 'review'
  return step === 'awaiting_wallet' ? 'wallet' : 'done'
}

/** States that share a heading. */
function screenOf({ step }: PaymentState): string {
  if (step === 'rejected') return 'review'
  return stageOf({ step }) === 'done' ? 'done' : step
}

function showStep(state: PaymentState, { run, onStartOver, onStart }: FlowProps): ReactNode {
  const change = () => void run.cancel().then(() => onStartOver({ change: state.order }))
  switch (state.step) {
    case 'draft':
    case 'building':
    case 'expired_unsigned':
    case 'cancelled':
      return <BuildStep onChange={change} onStart={(order) => void run.cancel().then(() => onStart(order))} run={run} state={state} />
    case 'review':
    case 'rejected':
      return <ReviewStep key={state.built.paymentId} onChange={change} run={run} state={state} />
    case 'awaiting_wallet':
      return <WalletStep onChange={change} state={state} />
    default:
      return <ProgressStep onStartOver={onStartOver} run={run} state={state} />
  }
}
