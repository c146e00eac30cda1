import type { PaymentStatus } from '#contract/payment.ts'
import type { Tone } from './Badge.tsx'
import type { IconName } from './Icon.tsx'

export type StatusWords = {
  label: string
  /** What it means for the reader, in one sentence. */
  meaning: string
  tone: Tone
  icon: IconName
}

/** Every status in the reader's terms. `unknown` is ours: bytes may have left and the chain has not answered yet. */
export const statusWords: Readonly<Record<PaymentStatus | 'unknown', StatusWords>> = {
  created: { label: 'Not sent yet', meaning: 'The transaction was built and waits for a signature.', tone: 'neutral', icon: 'clock' },
  pending: { label: 'Pending', meaning: 'The transaction was sent; the network has not confirmed it yet.', tone: 'warn', icon: 'hourglass' },
  confirmed: { label: 'Confirmed', meaning: 'The payment has arrived. It becomes final in a moment.', tone: 'good', icon: 'check' },
  finalized: { label: 'Final', meaning: 'The payment has arrived and cannot be undone.', tone: 'good', icon: 'checkDouble' },
  expired: { label: 'Expired', meaning: 'Nothing was sent. The transaction can no longer be used.', tone: 'neutral', icon: 'clock' },
  failed: { label: 'Failed', meaning: 'The payment did not go through. The recipient got nothing.', tone: 'bad', icon: 'cross' },
  rolled_back: { label: 'Rolled back', meaning: 'The network took its confirmation back. Do not deliver.', tone: 'bad', icon: 'back' },
  unknown: { label: 'Checking', meaning: 'It may have been sent. Nothing is built anew until the network answers.', tone: 'warn', icon: 'question' },
}
