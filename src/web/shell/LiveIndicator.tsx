import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useEffect, useRef } from 'react'
import { useLiveState } from '../api/events.ts'
import { announce } from '../ui/announce.tsx'
import { cx } from '../ui/cx.ts'
import { Time } from '../ui/Time.tsx'
import { useOnline } from './use-online.ts'

/** Whether what is on screen follows by itself. Nothing while nobody is signed in. `compact`: where there is little room, and what the other one announces. */
export function LiveIndicator({ compact }: { compact?: boolean }) {
  const state = useLiveState()
  const online = useOnline()
  const before = useRef(state.kind)

  useEffect(() => {
    if (compact) return
    if (state.kind === 'stale')
      announce(t`Live updates have stopped. Figures are read again every few seconds.`)
    if (state.kind === 'live' && before.current === 'stale') announce(t`Live updates are back.`)
    if (state.kind === 'live' || state.kind === 'stale') before.current = state.kind
  }, [state.kind, compact])

  // The banner says it, and a stream that has not noticed yet is not live.
  if (state.kind === 'off' || !online) return null
  const live = state.kind === 'live'
  return (
    <p
      className={cx(
        'flex items-center gap-2 text-xs text-muted',
        compact && 'leading-tight lg:hidden',
      )}
      data-live={state.kind}
    >
      <span
        className={cx(
          'forced-fill size-2 shrink-0 rounded-full',
          live ? 'bg-accent' : 'border-2 border-warn-edge',
        )}
      />
      {live && <Trans>Live</Trans>}
      {state.kind === 'connecting' && <Trans>Connecting…</Trans>}
      {state.kind === 'reconnecting' && <Trans>Reconnecting…</Trans>}
      {state.kind === 'stale' && (
        <span>
          <Trans>
            Not live since <Time at={state.since} />
          </Trans>
        </span>
      )}
    </p>
  )
}
