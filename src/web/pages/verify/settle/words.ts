import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import type { OutgoingState } from '../../../payment-flow/machine.ts'
import type { Progress } from '../../../payment-flow/steps/ProgressCard.tsx'
import type { SettleKind } from './kinds.ts'

/** What the payee is about to do, before anything is prepared. */
export const KINDS: Readonly<
  Record<
    SettleKind,
    { title: MessageDescriptor; body: MessageDescriptor; button: MessageDescriptor }
  >
> = {
  execute: {
    title: msg`Settle it myself`,
    body: msg`You pay the network fee.`,
    button: msg`Prepare the transaction`,
  },
  co_sign: {
    title: msg`Settle it myself`,
    body: msg`You pay the network fee.`,
    button: msg`Prepare the transaction`,
  },
  broadcast: {
    title: msg`Settle it myself`,
    body: msg`The payer pays the network fee.`,
    button: msg`Prepare the transaction`,
  },
  acknowledge: {
    title: msg`Acknowledge on the chain`,
    body: msg`Paid. Recording the receipt uses the proof.`,
    button: msg`Prepare the receipt`,
  },
}

/** How a settlement is doing, by what the payee's own node shows. */
export function settleProgress(state: OutgoingState): Progress {
  return state.order.operation?.kind === 'acknowledge'
    ? noteProgress(state)
    : collectProgress(state)
}

function collectProgress(state: OutgoingState): Progress {
  switch (state.step) {
    case 'confirmed':
    case 'finalized':
      return {
        title: t`Collected`,
        body: t`You have the money.`,
        tone: 'good',
        icon: 'checkDouble',
        working: false,
      }
    case 'rolled_back':
      return {
        title: t`Dropped by a reorganization`,
        body: t`It may be included again.`,
        tone: 'bad',
        icon: 'back',
        working: true,
      }
    case 'failed':
      return state.reason === 'other'
        ? {
            title: t`Another payment was confirmed`,
            body: t`Check your wallet.`,
            tone: 'bad',
            icon: 'cross',
            working: false,
          }
        : {
            title: t`Settlement no longer possible`,
            body: t`Expired, cancelled or rejected. The payer kept the money.`,
            tone: 'bad',
            icon: 'cross',
            working: false,
          }
    case 'unknown':
      return {
        title: t`Checking the chain`,
        body: state.reason === 'wallet_lost' ? t`Check your wallet.` : t`Not visible yet.`,
        tone: 'warn',
        icon: 'question',
        working: true,
      }
    default:
      return {
        title: t`On its way`,
        body: t`You can close this page.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
  }
}

function noteProgress(state: OutgoingState): Progress {
  switch (state.step) {
    case 'confirmed':
    case 'finalized':
      return {
        title: t`Acknowledged`,
        body: '',
        tone: 'good',
        icon: 'checkDouble',
        working: false,
      }
    case 'failed':
      return {
        title: t`Receipt expired`,
        body: t`You have the money.`,
        tone: 'warn',
        icon: 'warning',
        working: false,
      }
    default:
      return {
        title: t`On its way`,
        body: t`You can close this page.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
  }
}
