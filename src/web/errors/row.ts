import type { MessageDescriptor } from '@lingui/core'

/**
 * A row of the one table of errors: what to say of it, who can put it right, what is offered, and what may be tried again, so that no page decides that
 * for itself. The table stands in parts by who speaks (codes.ts, troubles.ts, refusals.ts, and one for each kind of reason), because the first page loads
 * only the codes; table.test.ts reads them as one.
 */
export type ErrorRow = {
  /** Who can put it right. */
  who: 'you' | 'payer' | 'operator' | 'network' | 'time' | 'us'
  title: MessageDescriptor
  body: MessageDescriptor
  /** The one thing offered; `wait` and `none` offer nothing to press. */
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
  /** The page does it, after the wait it was told. */
  | 'by_itself'
  /** The very same may be asked again: it cannot happen twice. */
  | 'safe'
  /** Only once someone changed something. */
  | 'after_change'
  /** Something may have left. The chain is asked; nothing is signed or sent anew. */
  | 'look_first'
  | 'never'
