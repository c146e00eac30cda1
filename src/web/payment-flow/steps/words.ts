import { t } from '@lingui/core/macro'
import { familyOf } from '#contract/network.ts'
import { joinMessage } from '../../errors/row.ts'
import type { OutgoingState, PaymentState } from '../machine.ts'
import {
  needsWallet,
  type Simulation,
  type WalletPaymentIntent,
} from '../../payment-intent/intent.ts'
import { formatAmountText } from '../../ui/format-amount.ts'
import type { Progress } from './ProgressCard.tsx'

/** A button of a phone has room for so many characters. */
const MOST_ON_BUTTON = 12

/** The amount on a button: every digit where they fit, cut otherwise, with the exact figure beside it. */
export function buttonAmountOf({
  amountAtomic,
  asset,
}: Pick<WalletPaymentIntent, 'amountAtomic' | 'asset'>): string {
  const { decimals, symbol } = asset
  const exact = formatAmountText(amountAtomic, decimals, { exact: true }).text
  const text = exact.length > MOST_ON_BUTTON ? formatAmountText(amountAtomic, decimals).text : exact
  return `${text} ${symbol}`
}

/** Why nothing comes for so long. On EVM the wallet is brought to the network first, which its owner may have to approve. */
export function describeSlowBuild(order: WalletPaymentIntent): string {
  const { walletName } = order
  return familyOf(order.network) === 'evm' && needsWallet(order)
    ? t`The network is slow, or ${walletName} asks to switch networks.`
    : t`The network is slow.`
}

/** Who simulated the payment. Which of several endpoints answered is not known, and none is named. */
export function describeSimulator(
  { state }: Pick<Simulation, 'state'>,
  rpcUrls: readonly string[],
): string {
  if (state === 'running') return t`Simulating`
  return state === 'unavailable' ? t`Not available` : describeEndpoint(rpcUrls)
}

export function describeEndpoint([url = '', ...others]: readonly string[]): string {
  const host = URL.canParse(url) ? new URL(url).host : url
  return others.length > 0 ? t`By your RPC endpoint` : t`By your RPC endpoint ${host}`
}

/** What a screen reader is told when the payment moves by itself. */
export function describeState(state: Exclude<PaymentState, OutgoingState>): string {
  const { walletName } = state.order
  switch (state.step) {
    case 'draft':
    case 'rejected':
    case 'code':
      // Said by an alert or a status on the page.
      return ''
    case 'building':
      return t`Preparing the transaction.`
    case 'review':
      return state.review.verdict === 'blocked'
        ? joinMessage({ title: t`Blocked`, body: t`Nothing was sent.` })
        : state.review.simulation.state === 'running'
          ? ''
          : t`Ready to review.`
    case 'expired_unsigned':
      return joinMessage({ title: t`Expired`, body: t`Nothing was sent.` })
    case 'cancelled':
      return joinMessage({ title: t`Cancelled`, body: t`Nothing was sent.` })
    case 'awaiting_wallet':
      return t`Approve in ${walletName}`
  }
}

/** How a payment that was signed is doing. `unknown` is a state, never an error. */
export function progressOf(state: OutgoingState): Progress {
  switch (state.step) {
    case 'signed':
      return {
        title: t`Signed, waiting for the network`,
        body: t`Not sent yet. Trying again automatically.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'broadcast':
      return {
        title: t`Sent`,
        body: closingWords(state),
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'submitted':
      if (state.outcome === 'reverted')
        return {
          title: t`Payment failed`,
          body: t`Waiting for finality.`,
          tone: 'warn',
          icon: 'warning',
          working: true,
        }
      return {
        title: state.landed ? t`In a block` : t`On its way`,
        body: closingWords(state),
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'confirmed':
      return {
        title: t`Paid`,
        body: t`Confirmed, becoming final.`,
        tone: 'good',
        icon: 'check',
        working: true,
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
      return { ...unknownWords(state), tone: 'warn', icon: 'question', working: true }
    case 'failed':
      return failureOf(state)
  }
}

/** Without an endpoint nothing moves on here. */
function closingWords({ unavailable = false }: OutgoingState): string {
  return unavailable ? t`RPC endpoint does not answer.` : t`You can close this page.`
}

function unknownWords({
  order: { walletName },
  reason,
  sent,
  unavailable = false,
}: Extract<OutgoingState, { step: 'unknown' }>): Pick<Progress, 'title' | 'body'> {
  switch (reason) {
    case 'wallet_lost': {
      const silent = t`${walletName} did not answer.`
      return {
        title: t`Checking whether it was sent`,
        body: joinSentences(
          unavailable ? joinSentences(silent, t`RPC endpoint does not answer.`) : silent,
          t`Do not pay again.`,
        ),
      }
    }
    case 'nonce_taken':
      return {
        title: t`Checking the chain`,
        body: t`Pay again only if ${walletName} cancelled it.`,
      }
    case 'not_seen':
      if (!unavailable)
        return {
          title: t`Checking the chain`,
          body: joinSentences(t`Not visible yet.`, t`Do not pay again.`),
        }
      return {
        title: t`RPC endpoint does not answer`,
        // Bytes that this page broadcasts itself may not have reached the endpoint.
        body: joinSentences(
          sent.bytes === null ? t`Your payment was sent.` : t`It may have been sent.`,
          t`Do not pay again.`,
        ),
      }
  }
}

/** Whether the network decides what happens next, and not the payer. */
export function isWaiting({ step }: OutgoingState): boolean {
  return step === 'signed' || step === 'unknown' || step === 'rolled_back' || step === 'failed'
}

/** Sent, and the shop cannot tell whose it is. It is no failure: the payer can confirm it now or later. */
export function unconfirmedProgress(): Progress {
  return {
    title: t`Sent, one signature missing`,
    body: t`Then the order is paid.`,
    tone: 'warn',
    icon: 'question',
    working: false,
  }
}

/** The chain has it, and whether the shop can tell whose it is was not read yet. */
export function unreadProgress(): Progress {
  return {
    title: t`Confirmed`,
    body: t`The merchant is checking your payment.`,
    tone: 'info',
    icon: 'hourglass',
    working: true,
  }
}

function failureOf(state: Extract<OutgoingState, { step: 'failed' }>): Progress {
  const base = { tone: 'bad', icon: 'cross', working: false } as const
  const { walletName } = state.order
  const detail = state.detail ?? ''
  switch (state.reason) {
    case 'expired':
      return {
        ...base,
        title: t`Expired`,
        body: joinSentences(t`Nothing was paid.`, t`You can pay again safely.`),
      }
    case 'superseded':
      // A wallet that never answered may still have the request open, and choose another nonce for it.
      return {
        ...base,
        title: t`Replaced by another transaction`,
        body:
          state.sent.signature === null
            ? t`Reject any open request in ${walletName} before you pay again.`
            : state.detail === null
              ? t`Pay again only if ${walletName} cancelled it.`
              : joinSentences(t`Nothing was paid.`, t`You can pay again safely.`),
      }
    case 'reverted':
      return {
        ...base,
        title: t`Rejected by the network`,
        body: joinSentences(detail, t`The recipient got nothing.`),
      }
    case 'other':
      return {
        ...base,
        title: t`Another payment was confirmed`,
        body: joinSentences(detail, t`Check your wallet before you pay again.`),
      }
  }
}

/** `first`: a sentence, or nothing. */
export function joinSentences(first: string, second: string): string {
  return first ? `${first} ${second}` : second
}
