import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState, type ReactNode } from 'react'
import { createStore } from '../local-data/store.ts'
import { announce } from './announce.tsx'
import { toneClass, type Tone } from './Badge.tsx'
import { Button } from './Button.tsx'
import { cx } from './button-class.ts'
import { Icon, type IconName } from './Icon.tsx'

type Toast = { id: number; tone: Tone; title: string; body?: ReactNode; undo?: () => void }

const SHOWN_MS = 6000
/** Long enough to read, to decide and to reach the button. */
const SHOWN_WITH_UNDO_MS = 15_000
const icons: Readonly<Record<Tone, IconName>> = {
  neutral: 'info',
  info: 'info',
  good: 'check',
  warn: 'warning',
  bad: 'warning',
}

const toasts = createStore<readonly Toast[]>([])
let nextId = 1

/**
 * Shows a brief notice. Never the only place that reports the state of money. `undo` reverses what
 * was just done.
 */
export function toast(
  title: string,
  options: { tone?: Tone; body?: ReactNode; undo?: () => void } = {},
): void {
  toasts.set([
    ...toasts.get().slice(-2),
    {
      id: nextId++,
      tone: options.tone ?? 'neutral',
      title,
      body: options.body,
      undo: options.undo,
    },
  ])
  announce(title)
}

export function Toaster() {
  const shown = toasts.use()
  const { t } = useLingui()
  if (shown.length === 0) return null
  return (
    <section
      aria-label={t`Notices`}
      className="no-print pointer-events-none fixed inset-x-4 bottom-[calc(72px+env(safe-area-inset-bottom))] z-50 flex flex-col items-center gap-2 lg:inset-x-auto lg:end-6 lg:bottom-6 lg:items-end"
    >
      {shown.map((each) => (
        <ToastCard key={each.id} toast={each} />
      ))}
    </section>
  )
}

function ToastCard({ toast: { id, tone, title, body, undo } }: { toast: Toast }) {
  // No time limit while the pointer or the keyboard focus is on it.
  const [paused, setPaused] = useState(false)
  useEffect(() => {
    if (paused) return
    const timer = setTimeout(() => dismiss(id), undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS)
    return () => clearTimeout(timer)
  }, [id, paused, undo])
  return (
    <div
      onBlur={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      className="animate-arrive pointer-events-auto flex w-full max-w-96 items-start gap-3 rounded-lg border border-line bg-raised px-4 py-3 text-sm shadow-lift"
    >
      <span
        className={cx(
          'inline-flex size-6 shrink-0 items-center justify-center rounded-full',
          toneClass[tone],
        )}
      >
        <Icon name={icons[tone]} size={14} />
      </span>
      <div className="min-w-0 flex-1 pt-0.5">
        <p className="font-medium">{title}</p>
        {body && <div className="text-muted">{body}</div>}
      </div>
      {undo && (
        <Button
          className="-my-1 -me-2"
          onClick={() => {
            undo()
            dismiss(id)
          }}
          size="sm"
          variant="quiet"
        >
          <Trans>Undo</Trans>
        </Button>
      )}
    </div>
  )
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((each) => each.id !== id))
}
