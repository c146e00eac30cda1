import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { PaymentRow } from '#contract/payment-body.ts'
import { isPaid, type PaymentStatus } from '#contract/payment.ts'
import { i18n } from '../locales/i18n.ts'
import type { Tone } from './Badge.tsx'
import type { IconName } from './Icon.tsx'

export type StatusWords = {
  label: MessageDescriptor
  /** What it means for the reader, in one sentence. */
  meaning: MessageDescriptor
  tone: Tone
  icon: IconName
}

/**
 * `unknown`: bytes may have left and the chain has not answered yet. `incomplete`: a draft, whose
 * payer nobody has verified and which nobody paid. A paid payment that went back says so.
 */
export type ShownStatus = PaymentStatus | 'unknown' | 'incomplete' | 'refunded' | 'partly_refunded'

/** What a reader is told of a payment: its status, or that it went back. */
export function shownStatus({
  status,
  draft,
  refund,
}: Pick<PaymentRow, 'status' | 'draft' | 'refund'>): ShownStatus {
  if (draft) return 'incomplete'
  if (!isPaid(status) || refund.state === 'none') return status
  return refund.state === 'full' ? 'refunded' : 'partly_refunded'
}

/** Every status in the reader's terms. */
export const statusWords: Readonly<Record<ShownStatus, StatusWords>> = {
  created: {
    label: msg({ message: 'Not paid yet', context: 'payment status' }),
    meaning: msg`Waiting for a signature.`,
    tone: 'neutral',
    icon: 'clock',
  },
  pending: {
    label: msg({ message: 'Pending', context: 'payment status' }),
    meaning: msg`Sent. Waiting for confirmation.`,
    tone: 'warn',
    icon: 'hourglass',
  },
  confirmed: {
    label: msg({ message: 'Confirmed', context: 'payment status' }),
    meaning: msg`Confirmed, becoming final.`,
    tone: 'good',
    icon: 'check',
  },
  finalized: {
    label: msg({ message: 'Finalized', context: 'payment status' }),
    meaning: msg`The payment is final.`,
    tone: 'good',
    icon: 'checkDouble',
  },
  refunded: {
    label: msg({ message: 'Refunded', context: 'payment status' }),
    meaning: msg`Refunded in full.`,
    tone: 'neutral',
    icon: 'back',
  },
  partly_refunded: {
    label: msg({ message: 'Partly refunded', context: 'payment status' }),
    meaning: msg`Refunded in part.`,
    tone: 'neutral',
    icon: 'back',
  },
  expired: {
    label: msg({ message: 'Expired', context: 'payment status' }),
    meaning: msg`No payment was found.`,
    tone: 'neutral',
    icon: 'clock',
  },
  failed: {
    label: msg({ message: 'Failed', context: 'payment status' }),
    meaning: msg`Failed. The recipient got nothing.`,
    tone: 'bad',
    icon: 'cross',
  },
  rolled_back: {
    label: msg({ message: 'Rolled back', context: 'payment status' }),
    meaning: msg`Dropped by a reorganization. It may be included again. Do not deliver.`,
    tone: 'bad',
    icon: 'back',
  },
  incomplete: {
    label: msg({ message: 'Incomplete', context: 'payment status' }),
    meaning: msg`Unpaid draft. Text from the visitor.`,
    tone: 'neutral',
    icon: 'clock',
  },
  unknown: {
    label: msg({ message: 'Checking', context: 'payment status' }),
    meaning: msg`The payment may have been sent.`,
    tone: 'warn',
    icon: 'question',
  },
}

/** `Confirmed`, in the reader's language. */
export function statusLabel(status: ShownStatus): string {
  return i18n._(statusWords[status].label)
}

/** What a status means for the reader, in one sentence. */
export function statusMeaning(status: ShownStatus): string {
  return i18n._(statusWords[status].meaning)
}
