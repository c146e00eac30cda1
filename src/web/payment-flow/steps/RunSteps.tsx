import type { ReactNode } from 'react'
import type { PaymentState } from '../machine.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { PaymentRun } from '../run.ts'
import { BuildStep } from './BuildStep.tsx'
import { ReviewStep } from './ReviewStep.tsx'
import { WalletStep } from './WalletStep.tsx'

export type RunStepsProps = {
  run: PaymentRun
  state: PaymentState
  /** Away from this run, which is given up. */
  onLeave: () => void
  /** The same order from another account; this run is given up. */
  onOther: (order: WalletPaymentIntent) => void
  /** The sentence on top of the review, where it is not a payment to somebody. */
  summary?: ReactNode
  /** How it is doing, once something was signed. */
  children: ReactNode
}

/** Prepare, review, wallet, chain: the same steps wherever this browser has somebody sign. */
export function RunSteps({ run, state, onLeave, onOther, summary, children }: RunStepsProps) {
  const leave = () => void run.cancel().then(onLeave)
  switch (state.step) {
    case 'draft':
    case 'building':
    case 'expired_unsigned':
    case 'cancelled':
      return (
        <BuildStep
          onChange={leave}
          onStart={(order) => void run.cancel().then(() => onOther(order))}
          run={run}
          state={state}
        />
      )
    case 'review':
    case 'rejected':
      return (
        <ReviewStep
          key={state.attempt}
          onChange={leave}
          run={run}
          state={state}
          summary={summary}
        />
      )
    case 'awaiting_wallet':
      return <WalletStep onChange={leave} state={state} />
    default:
      return children
  }
}
