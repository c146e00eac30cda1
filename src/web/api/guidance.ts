/** What a row of every error table says beside its words, so that no page decides for itself what may be tried again. */
export type Guidance = {
  /** Who can put it right. */
  who: 'you' | 'payer' | 'operator' | 'network' | 'time' | 'us'
  /** The one thing offered; `wait` and `none` offer nothing to press. */
  action: 'retry' | 'sign_in' | 'sign_again' | 'connect' | 'prepare_again' | 'change' | 'wait' | 'none'
  retry: RetryPolicy
}

export type RetryPolicy =
  /** The page does it, after the wait it was told. */
  | 'by_itself'
  /** The very same may be asked again: it cannot happen twice. */
  | 'safe'
  /** Only once someone changed something. */
  | 'after_change'
  /** Something may have left. The chain is asked; nothing is signed or sent anew. */
  | 'look_first'
  | 'never'
