import type { ReactNode } from 'react'
import { toneClass, type Tone } from './Badge.tsx'
import { cx } from './button-class.ts'
import { Icon, type IconName } from './Icon.tsx'

export type BannerProps = {
  tone?: Tone
  title?: ReactNode
  children?: ReactNode
  action?: ReactNode
  icon?: IconName
  /** `alert` interrupts a screen reader: only for what stops the reader's work. */
  role?: 'alert' | 'status' | 'note'
  className?: string
}

const icons: Readonly<Record<Tone, IconName>> = {
  neutral: 'info',
  info: 'info',
  good: 'check',
  warn: 'warning',
  bad: 'warning',
}

export function Banner({
  tone = 'info',
  title,
  children,
  action,
  icon,
  role,
  className,
}: BannerProps) {
  return (
    <div
      className={cx(
        'flex items-start gap-3 rounded-lg px-4 py-3 text-sm forced-edge',
        toneClass[tone],
        className,
      )}
      role={role}
    >
      <Icon className="mt-0.5 shrink-0" name={icon ?? icons[tone]} />
      <div className="flex min-w-0 flex-1 flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className={cx('min-w-0 flex-1', action ? 'basis-56' : undefined)}>
          {title && <p className="font-medium">{title}</p>}
          {children && <div className="[overflow-wrap:anywhere]">{children}</div>}
        </div>
        {action && <div className="-my-1 max-w-full self-center">{action}</div>}
      </div>
    </div>
  )
}
