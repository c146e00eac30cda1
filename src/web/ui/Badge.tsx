import type { ReactNode } from 'react'
import { cx } from './button-class.ts'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info'

export const toneClass: Readonly<Record<Tone, string>> = {
  neutral: 'bg-neutral-soft text-neutral-ink',
  good: 'bg-good-soft text-good-ink',
  warn: 'bg-warn-soft text-warn-ink',
  bad: 'bg-bad-soft text-bad-ink',
  info: 'bg-info-soft text-info-ink',
}

export type BadgeProps = {
  tone?: Tone
  icon?: ReactNode
  title?: string
  className?: string
  children: ReactNode
}

export function Badge({ tone = 'neutral', icon, title, className, children }: BadgeProps) {
  return (
    <span
      className={cx(
        'inline-flex h-6 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap forced-edge',
        toneClass[tone],
        className,
      )}
      title={title}
    >
      {icon}
      {children}
    </span>
  )
}
