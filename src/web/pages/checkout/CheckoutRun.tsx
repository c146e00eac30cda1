import { lazy, Suspense, useEffect, type ReactNode } from 'react'
import { familyOf } from '#contract/network.ts'
import { openTerms } from '../../payment-flow/form/payment-service.ts'
import { formatQuantity } from '../../payment-flow/format-quantity.ts'
import { ItemSummary } from '../../payment-flow/ItemSummary.tsx'
import { ItemLine } from '../../shell/PayShell.tsx'
import { isPaid, type PaymentState } from '../../payment-flow/machine.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { needsPrice } from '../../payment-flow/steps/BuildStep.tsx'
import { RunSteps } from '../../payment-flow/steps/RunSteps.tsx'
import { Steps, type StepName, useStepFocus } from '../../payment-flow/steps/Steps.tsx'
import { useRunState } from '../../payment-flow/steps/use-run.ts'
import { describeState } from '../../payment-flow/steps/words.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { announce } from '../../ui/announce.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { ProgressStep } from './ProgressStep.tsx'

/** Few pay by it, and it draws codes. */
const CodeStep = lazy(() =>
  import('./WalletCode.tsx').then((module) => ({ default: module.CodeStep })),
)

/** Back to the form: `change` keeps the inputs, `again` does too but for the reference, `after` begins another payment. */
export type StartOver =
  | {
      change: WalletPaymentIntent
      /** Its quote is over. */
      renew: boolean
      /** Until when what was prepared can still be signed, in Unix milliseconds. */
      blockedUntil?: number | undefined
    }
  | { again: WalletPaymentIntent }
  | { after: WalletPaymentIntent }

export type CheckoutRunProps = {
  run: PaymentRun
  item: ReactNode
  onStartOver: (from: StartOver) => void
  /** The same payment from another account. */
  onStart: (order: WalletPaymentIntent) => Promise<void>
}

/** One payment from its first request to its receipt: shows what the machine says, and lets the person do what it allows. */
export function CheckoutRun({ run, item, onStartOver, onStart }: CheckoutRunProps) {
  const state = useRunState(run)
  const currentStep = stepOf(state)
  const container = useStepFocus(screenOf(state))

  // What was sent is told by its own screen, which knows more than the state.
  const words = 'sent' in state ? undefined : describeState(state)
  useEffect(() => {
    if (words !== undefined) announce(words)
  }, [words])

  // A link that cannot be opened any more says nothing of what it was for.
  const { link, description, reference } = state.order
  const lastKnownItem = link && description !== undefined && !openTerms(link).description && (
    <p className="mb-2">
      <UntrustedText text={description} />
    </p>
  )
  // Without a link it is what the payer entered, which is not always what the page began with. A refund names its payment.
  const keepsItem = link !== undefined || state.order.refundOf !== undefined
  const ownItem = keepsItem
    ? item
    : item && <ItemLine description={description} reference={reference} />
  return (
    <div ref={container}>
      {!state.order.link && <Steps current={currentStep} />}
      {!('sent' in state) &&
        (state.order.item ? <ItemSummary item={state.order.item} /> : (ownItem ?? lastKnownItem))}
      {!('sent' in state) && (
        <p className="figures mb-2 text-muted empty:hidden">
          {formatQuantity(state.order.quantity)}
        </p>
      )}
      <RunSteps
        onLeave={() =>
          onStartOver({
            change: state.order,
            renew: needsPrice(state),
            // On EVM it is released.
            blockedUntil:
              'built' in state && familyOf(state.order.network) === 'solana'
                ? state.built.deadlineAt
                : undefined,
          })
        }
        onBack={() => onStartOver({ change: state.order, renew: needsPrice(state) })}
        onOther={(order) => void onStart(order)}
        run={run}
        state={state}
      >
        {'sent' in state && <ProgressStep onStartOver={onStartOver} run={run} state={state} />}
        {state.step === 'code' && (
          <Suspense fallback={<Skeleton className="mx-auto aspect-square w-full max-w-64" />}>
            <CodeStep
              onLeave={() => onStartOver({ change: state.order, renew: needsPrice(state) })}
              run={run}
              state={state}
            />
          </Suspense>
        )}
      </RunSteps>
    </div>
  )
}

function stepOf(state: PaymentState): StepName {
  switch (state.step) {
    case 'draft':
    case 'cancelled':
      return 'details'
    case 'building':
    case 'review':
    case 'rejected':
    case 'expired_unsigned':
      return 'review'
    default:
      return isPaid(state) || state.step === 'failed' ? 'done' : 'wallet'
  }
}

/** States that share a heading. */
function screenOf(state: PaymentState): string {
  if (state.step === 'rejected') return 'review'
  return 'sent' in state ? 'sent' : state.step
}
