import { useLingui } from '@lingui/react/macro'
import { useEffect } from 'react'
import { announce } from '../../ui/announce.tsx'
import { cx } from '../../ui/cx.ts'
import { Icon } from '../../ui/Icon.tsx'

/** Time left to sign; `closing` once it is too short for a wallet. Its passing is announced elsewhere, at 30 and 10 seconds. */
export function Deadline({ seconds, closing }: { seconds: number; closing: boolean }) {
  const { t } = useLingui()
  const near = seconds <= 25
  const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return (
    <p
      className={cx(
        'figures inline-flex h-6 items-center gap-1.5 rounded-full px-2 text-xs font-medium forced-edge',
        near ? 'bg-warn-soft text-warn-ink' : 'bg-neutral-soft text-neutral-ink',
      )}
      role="timer"
    >
      <Icon name={near ? 'warning' : 'clock'} size={14} />
      <span>{closing ? t`Out of time` : t`${left} left`}</span>
    </p>
  )
}

/** Twice and politely: a countdown that is read out every second could not be used. */
export function useDeadlineAnnouncements(seconds: number): void {
  const { t } = useLingui()
  const mark = seconds <= 10 ? 10 : seconds <= 30 ? 30 : 0
  useEffect(() => {
    if (mark === 30) announce(t`30 seconds left to sign.`)
    if (mark === 10) announce(t`Too little time is left to sign. You can prepare it again.`)
  }, [mark, t])
}
