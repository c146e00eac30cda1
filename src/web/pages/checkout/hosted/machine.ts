import type { HostedIntent } from '#contract/hosted-intent.ts'
import type { UserError } from '../../../payment-intent/intent.ts'

export type RefusedField = 'amount' | 'recipient' | 'priorityFee'

/**
 * A payment from a managed wallet, as this page drives it. The operator's wallet signs a text,
 * never a transaction; from the signature on there is at most one payment, and nothing is prepared
 * again until the proxy has reported a definite outcome.
 */
export type HostedState =
  /** `field`: what the refusal is about. */
  | { step: 'form'; userError: UserError | null; field?: RefusedField | undefined }
  | { step: 'preparing' }
  | { step: 'review'; intent: HostedIntent; userError: UserError | null }
  | { step: 'signing'; intent: HostedIntent }
  /** `unknown` once a response was lost: only the same request is sent again. */
  | { step: 'sending' | 'unknown'; intent: HostedIntent; signature: string }
  | { step: 'sent'; intent: HostedIntent; paymentId: string }
  | { step: 'refused'; intent: HostedIntent; userError: UserError }
  | { step: 'unanswered'; intent: HostedIntent; why: UnansweredReason }

/**
 * Why nobody tells whether it was sent. `restored`: the service was restored from a backup, and may
 * have forgotten the payment. `other_session`: the proxy does not tell it to this session.
 */
export type UnansweredReason = 'restored' | 'other_session'

export type HostedEvent =
  | { type: 'prepare' }
  | { type: 'not_prepared'; userError: UserError; field?: RefusedField | undefined }
  | { type: 'prepared'; intent: HostedIntent }
  | { type: 'sign' }
  | { type: 'not_signed'; userError: UserError }
  | { type: 'signed'; signature: string }
  | { type: 'sent'; paymentId: string }
  | { type: 'no_answer' }
  | { type: 'refused'; userError: UserError }
  | { type: 'unanswered'; why: UnansweredReason }
  | { type: 'change' }

export function reduceHosted(state: HostedState, event: HostedEvent): HostedState {
  switch (event.type) {
    case 'prepare':
      return state.step === 'form' ? { step: 'preparing' } : state
    case 'not_prepared':
      return state.step === 'preparing'
        ? { step: 'form', userError: event.userError, field: event.field }
        : state
    case 'prepared':
      return state.step === 'preparing'
        ? { step: 'review', intent: event.intent, userError: null }
        : state
    case 'sign':
      return state.step === 'review' ? { step: 'signing', intent: state.intent } : state
    case 'not_signed':
      return state.step === 'signing'
        ? { step: 'review', intent: state.intent, userError: event.userError }
        : state
    case 'signed':
      return state.step === 'signing'
        ? { step: 'sending', intent: state.intent, signature: event.signature }
        : state
    case 'sent':
      return isOut(state)
        ? { step: 'sent', intent: state.intent, paymentId: event.paymentId }
        : state
    case 'no_answer':
      return isOut(state) ? { ...state, step: 'unknown' } : state
    case 'refused':
      return isOut(state)
        ? { step: 'refused', intent: state.intent, userError: event.userError }
        : state
    case 'unanswered':
      return isOut(state) ? { step: 'unanswered', intent: state.intent, why: event.why } : state
    case 'change':
      return isOut(state) || state.step === 'signing' ? state : { step: 'form', userError: null }
  }
}

/** The signature may have reached the proxy: only the proxy's answer ends this state. */
export function isOut(state: HostedState): state is Extract<HostedState, { signature: string }> {
  return state.step === 'sending' || state.step === 'unknown'
}
