import { t } from '@lingui/core/macro'
import type { OutgoingState } from '../../../payment-flow/machine.ts'
import type { Progress } from '../../../payment-flow/steps/ProgressCard.tsx'

/** How the transaction that lets Permit2 take an amount is doing. */
export function allowanceProgress(state: OutgoingState): Progress {
  const { walletName } = state.order
  switch (state.step) {
    case 'signed':
    case 'broadcast':
    case 'submitted':
      return {
        title: t`Allowing it`,
        body: t`The network has your leave and confirms it. Then you sign the payment.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'confirmed':
    case 'finalized':
      return {
        title: t`Allowed`,
        body: t`Permit2 may take this amount where you sign for it.`,
        tone: 'good',
        icon: 'check',
        working: false,
      }
    case 'rolled_back':
      return {
        title: t`Dropped by a reorganization`,
        body: t`The block with your approval is no longer part of the chain. The approval may be included again.`,
        tone: 'bad',
        icon: 'back',
        working: true,
      }
    case 'unknown':
      return {
        title: t`Checking whether it was sent`,
        body:
          state.reason === 'wallet_lost'
            ? t`${walletName}’s answer got lost. If its window is still open, answer it there. This page looks on the chain for it.`
            : t`It was sent, and the network does not show it yet.`,
        tone: 'warn',
        icon: 'question',
        working: true,
      }
    case 'failed':
      return state.reason === 'other'
        ? {
            title: t`Another amount was allowed`,
            body: t`${walletName} let you change the amount, and what you allowed is less than this payment needs. Nothing was paid. Ask for the terms again.`,
            tone: 'warn',
            icon: 'warning',
            working: false,
          }
        : {
            title: t`It was not allowed`,
            body: t`The transaction did not go through. Nothing was paid.`,
            tone: 'bad',
            icon: 'cross',
            working: false,
          }
  }
}
