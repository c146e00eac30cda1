import { t } from '@lingui/core/macro'
import { isPaid, type OutgoingState } from '../../../payment-flow/machine.ts'
import type { Progress } from '../../../payment-flow/steps/ProgressCard.tsx'
import {
  joinSentences,
  progressOf as progressOfPayment,
} from '../../../payment-flow/steps/words.ts'
import { describeCause } from '../request/UnansweredCard.tsx'
import { BY_SELLER } from '../request/usable.ts'
import { titleOfRefusal } from './RefusedCard.tsx'
import type { Purchase } from './purchase.ts'
import type { PurchaseView } from './use-purchase.ts'

/** The title of what the server gave for the payment; null while there is nothing new to show. */
export function titleOfDelivery(view: PurchaseView): string | null {
  const { purchase, delivered, sending, waits, state } = view
  if (!delivered || (sending && !waits)) return null
  const { result, delivery } = delivered
  if (result.kind === 'unanswered') return describeCause(result.cause)
  switch (delivery.outcome) {
    case 'refused':
      return titleOfRefusal(purchase, result.answer)
    case 'pending':
      return t`Payment pending`
    case 'served':
      return t`Your purchase`
    default:
      return isPaid(state) ? t`Paid, not delivered` : t`Not delivered`
  }
}

/** How the payment of a purchase is doing, by what this browser's own node shows. */
export function progressOf(state: OutgoingState, purchase: Purchase): Progress {
  const waiting = { tone: 'info', icon: 'hourglass', working: true } as const
  const bySeller = BY_SELLER.has(purchase.way)
  const { closedAt } = purchase
  const { walletName } = state.order
  switch (state.step) {
    case 'signed': {
      // Neither the network nor the merchant has it before the journal says that it may have left.
      const progress = progressOfPayment(state)
      return { ...progress, body: `${progress.body} ${keepOpenWords(purchase)}`.trim() }
    }
    case 'broadcast':
      return bySeller
        ? {
            ...waiting,
            title: t`Signed, held by the merchant`,
            body: closedAt === undefined ? t`Waiting for the merchant.` : '',
            working: closedAt === undefined,
          }
        : {
            ...waiting,
            title: t`Sent`,
            body: describeClosing(purchase),
          }
    case 'submitted':
      return {
        ...waiting,
        title: state.landed ? t`In a block` : t`On its way`,
        body: describeClosing(purchase),
      }
    case 'confirmed':
      return {
        title: t`Paid`,
        body: t`Confirmed.`,
        tone: 'good',
        icon: 'check',
        working: false,
      }
    case 'finalized':
      return {
        title: t`Paid and finalized`,
        body: '',
        tone: 'good',
        icon: 'checkDouble',
        working: false,
      }
    case 'rolled_back':
      return {
        title: t`Dropped by a reorganization`,
        body: joinSentences(t`It may be included again.`, t`Do not pay again.`),
        tone: 'bad',
        icon: 'back',
        working: true,
      }
    case 'unknown':
      return {
        title: t`Payment pending`,
        body: joinSentences(
          state.reason === 'wallet_lost'
            ? t`${walletName} did not answer.`
            : bySeller
              ? t`The merchant may still use your signature.`
              : t`Not visible yet.`,
          t`Do not pay again.`,
        ),
        tone: 'warn',
        icon: 'question',
        working: true,
      }
    case 'failed':
      return failureOf(state, bySeller)
  }
}

/**
 * Where the header is made only of a confirmed transfer, this page alone can make it and send it:
 * who closes it before has paid, and gets nothing.
 */
function keepOpenWords({ way, header }: Purchase): string {
  if (header === null && way === 'transaction_then_proof')
    return t`Keep this page open: one signature follows.`
  if (header === null && way === 'transaction') return t`Keep this page open: the request follows.`
  return ''
}

function describeClosing(purchase: Purchase): string {
  return keepOpenWords(purchase) || t`You can close this page.`
}

function failureOf(state: Extract<OutgoingState, { step: 'failed' }>, bySeller: boolean): Progress {
  const failed = { tone: 'bad', icon: 'cross', working: false } as const
  const unsure =
    !bySeller && state.reason === 'superseded' && !(state.sent.signature && state.detail)
  if (state.reason === 'other' || unsure)
    return {
      ...failed,
      title: t`Another payment was confirmed`,
      body: t`Check your wallet before you pay again.`,
    }
  if (state.reason === 'reverted')
    return {
      ...failed,
      title: t`Rejected by the network`,
      body: t`The recipient got nothing.`,
    }
  return bySeller
    ? {
        ...failed,
        tone: 'neutral',
        title: t`Signature expired unused`,
        body: joinSentences(t`Nothing was paid.`, t`You can pay again safely.`),
      }
    : {
        ...failed,
        title: t`Expired`,
        body: joinSentences(t`Nothing was paid.`, t`You can pay again safely.`),
      }
}
