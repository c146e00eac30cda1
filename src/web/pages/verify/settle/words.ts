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
    body: msg`You send the payer’s authorization yourself and pay the network fee. It needs your wallet, and no facilitator.`,
    button: msg`Prepare the transaction`,
  },
  co_sign: {
    title: msg`Settle it myself`,
    body: msg`The payer has signed, and named your wallet for the network fee. You add your signature and send it; it needs no facilitator.`,
    button: msg`Prepare the transaction`,
  },
  broadcast: {
    title: msg`Settle it myself`,
    body: msg`The payer has signed everything and pays the network fee. Nobody has to sign any more: it is only sent, through your own node.`,
    button: msg`Prepare the transaction`,
  },
  acknowledge: {
    title: msg`Acknowledge it on the chain`,
    body: msg`The payer has paid already, so there is nothing to settle. If you like, write on the chain that you know it. That costs you the network fee and moves nothing else. The payment is accepted into your account with it, and its proof used up.`,
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
  const { walletName } = state.order
  switch (state.step) {
    case 'confirmed':
    case 'finalized':
      return {
        title: t`Collected`,
        body: t`The payment that the payer signed was executed. You received the money.`,
        tone: 'good',
        icon: 'checkDouble',
        working: false,
      }
    case 'rolled_back':
      return {
        title: t`Dropped by a reorganization`,
        body: t`Its block is no longer part of the chain. The transaction may be included again.`,
        tone: 'bad',
        icon: 'back',
        working: true,
      }
    case 'failed':
      return state.reason === 'other'
        ? {
            title: t`Something else landed`,
            body: t`What stands on the chain is not this payment. Look at it in your wallet.`,
            tone: 'bad',
            icon: 'cross',
            working: false,
          }
        : {
            title: t`It can no longer be collected`,
            body: t`The payer’s signature expired or was cancelled, or the network rejected the transaction. The payer kept the money.`,
            tone: 'bad',
            icon: 'cross',
            working: false,
          }
    case 'unknown':
      return {
        title: t`Checking whether it landed`,
        body:
          state.reason === 'wallet_lost'
            ? t`${walletName}’s answer got lost. If its window is still open, answer it there. Your node is watched meanwhile.`
            : t`The network does not show the transaction yet. No new one is prepared while this one can still be executed.`,
        tone: 'warn',
        icon: 'question',
        working: true,
      }
    default:
      return {
        title: t`On its way`,
        body: t`This page polls your RPC endpoint until the payment is executed.`,
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
        body: t`Your receipt stands on the chain.`,
        tone: 'good',
        icon: 'checkDouble',
        working: false,
      }
    case 'failed':
      return {
        title: t`The receipt did not land`,
        body: t`The payment is not touched by that: you have the money.`,
        tone: 'warn',
        icon: 'warning',
        working: false,
      }
    default:
      return {
        title: t`On its way`,
        body: t`Your node is watched until the receipt is in a block.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
  }
}
