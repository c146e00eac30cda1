import { t } from '@lingui/core/macro'
import { formatAmount } from '#contract/amount.ts'
import type { OutgoingState, PaymentState } from '../machine.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { Progress } from './ProgressCard.tsx'

/** `0.1 SOL`, every digit. */
export function amountOf({
  amountAtomic,
  asset,
}: Pick<WalletPaymentIntent, 'amountAtomic' | 'asset'>): string {
  return `${formatAmount(amountAtomic, asset.decimals)} ${asset.symbol}`
}

/** What a screen reader is told when the payment moves by itself. */
export function describeState(state: Exclude<PaymentState, OutgoingState>): string {
  const { walletName } = state.order
  switch (state.step) {
    case 'draft':
    case 'rejected':
      // Said by an alert on the page.
      return ''
    case 'building':
      return t`Preparing the transaction.`
    case 'review':
      return state.review.verdict === 'blocked'
        ? t`Blocked. This transaction will not be signed.`
        : state.review.simulation.state === 'running'
          ? ''
          : t`Ready to review.`
    case 'expired_unsigned':
      return t`This transaction ran out of time. Nothing was sent.`
    case 'cancelled':
      return t`Given up. Nothing was sent.`
    case 'awaiting_wallet':
      return t`Approve in ${walletName}.`
  }
}

/** How a payment that was signed is doing. `unknown` is a state, never an error. */
export function progressOf(state: OutgoingState): Progress {
  const wallet = state.order.walletName
  switch (state.step) {
    case 'signed':
      return {
        title: t`Signed, waiting for the network`,
        body: t`Your connection does not answer yet. Nothing was sent so far; it is sent as soon as the network is back.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'broadcast':
      return {
        title: t`Sent`,
        body: t`Waiting for the network to show it. You can leave; this page goes on where it was.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'submitted':
      if (state.outcome === 'reverted')
        return {
          title: t`It did not go through`,
          body: t`The transaction was executed and failed. Waiting until that is final.`,
          tone: 'warn',
          icon: 'warning',
          working: true,
        }
      return {
        title: state.landed ? t`In a block` : t`On its way`,
        body: t`The network has it. Waiting for confirmations. You can leave; this page goes on where it was.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'confirmed':
      return {
        title: t`Paid`,
        body: t`The network confirmed the payment. It becomes final in a moment.`,
        tone: 'good',
        icon: 'check',
        working: true,
      }
    case 'finalized':
      return {
        title: t`Paid and finalized`,
        body: t`The payment is final and cannot be undone.`,
        tone: 'good',
        icon: 'checkDouble',
        working: false,
      }
    case 'rolled_back':
      return {
        title: t`Dropped by a reorganization`,
        body: t`The block with this payment is no longer part of the chain. The payment may be included again. No new one is prepared until that is ruled out.`,
        tone: 'bad',
        icon: 'back',
        working: true,
      }
    case 'unknown':
      return state.reason === 'wallet_lost'
        ? {
            title: t`Checking whether it was sent`,
            body: t`${wallet}’s answer got lost. If its window is still open, answer it there. This page looks on the chain for a payment with the number reserved for it. Do not pay a second time.`,
            tone: 'warn',
            icon: 'question',
            working: true,
          }
        : {
            title: t`Checking whether it landed`,
            body: t`The transaction was sent, but the network does not show it yet. No new one is prepared while this one can still be executed. Do not pay a second time.`,
            tone: 'warn',
            icon: 'question',
            working: true,
          }
    case 'failed':
      return failureOf(state)
  }
}

/** Whether the network decides what happens next, and not the payer. */
export function isWaiting({ step }: OutgoingState): boolean {
  return step === 'signed' || step === 'unknown' || step === 'rolled_back' || step === 'failed'
}

/** Sent, and the shop cannot tell whose it is. It is no failure: the payer can confirm it now or later. */
export function unconfirmedProgress(): Progress {
  return {
    title: t`Sent, not confirmed to be yours`,
    body: t`The payment left your wallet. The shop cannot match it to this order until you confirm that it is yours.`,
    tone: 'warn',
    icon: 'question',
    working: false,
  }
}

function failureOf(state: Extract<OutgoingState, { step: 'failed' }>): Progress {
  const base = { tone: 'bad', icon: 'cross', working: false } as const
  const detail = state.detail ?? ''
  const reason = detail || t`The transaction was executed and failed.`
  switch (state.reason) {
    case 'expired':
      return {
        ...base,
        title: t`It did not land in time`,
        body: t`The chain proves that this transaction can no longer be executed. Nothing was paid. You can pay again safely.`,
      }
    case 'superseded':
      return {
        ...base,
        title: t`Another transaction took its place`,
        body: t`Your wallet sent something else with the same number, so this payment can no longer land. You can pay again safely.`,
      }
    case 'reverted':
      return {
        ...base,
        title: t`The network refused it`,
        body: t`${reason} The recipient got nothing.`,
      }
    case 'other':
      return {
        ...base,
        title: t`Something else landed`,
        body: t`The transaction on the chain is not the payment you asked for. ${detail} Do not pay again before you have looked at it in your wallet.`,
      }
  }
}
