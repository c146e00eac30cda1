import type { MessageDescriptor } from '@lingui/core'
import { t } from '@lingui/core/macro'
import { i18n } from '../locales/i18n.ts'

/**
 * A row of the one table of errors: its texts, who can fix it, the action offered, and the retry
 * policy, so that no page decides that for itself. The table is split by source (codes.ts,
 * error-messages.ts, refusals.ts, and one for each kind of reason), because the first page loads only the
 * codes; table.test.ts reads them as one.
 */
export type ErrorRow = {
  /** Who can fix it. */
  who: 'you' | 'payer' | 'operator' | 'network' | 'time' | 'us'
  title: MessageDescriptor
  body: MessageDescriptor
  /** It is certain that no transaction was sent: the text ends with this. */
  unsent?: true
  /** A refused change that concerns no payment: the text begins with this. */
  unchanged?: true
  /** The one action offered; `wait` and `none` have no button. */
  action:
    | 'retry'
    | 'sign_in'
    | 'sign_again'
    | 'connect'
    | 'prepare_again'
    | 'change'
    | 'wait'
    | 'none'
  retry: RetryPolicy
}

type RetryPolicy =
  /** The page retries after the wait it was given. */
  | 'by_itself'
  /** The same request may be repeated: it cannot take effect twice. */
  | 'safe'
  /** Only after someone changed something. */
  | 'after_change'
  /** Something may have left. The chain is asked; nothing is signed or sent again. */
  | 'look_first'
  | 'never'

/** The body of a row in the reader's language; it says that nothing was sent or changed where that is certain. */
export function formatBody(
  { body, unsent, unchanged }: Pick<ErrorRow, 'body' | 'unsent' | 'unchanged'>,
  values: Readonly<Record<string, string>> = {},
): string {
  const text = i18n._({ ...body, values })
  if (unchanged) return t`Nothing was changed. ${text}`
  return unsent ? t`${text} Nothing was sent.` : text
}

/** A title and what belongs to it as one text, parted as the reader's language parts sentences. */
export function joinMessage({ title, body }: { title: string; body: string }): string {
  return t`${title}. ${body}`
}
