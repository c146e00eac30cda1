import type { ReactNode } from 'react'
import { toneClass, type Tone } from '../../ui/Badge.tsx'
import { cx } from '../../ui/button-class.ts'
import { Icon, type IconName } from '../../ui/Icon.tsx'

type InboxItemProps = {
  icon: IconName
  tone: Tone
  title: ReactNode
  action: ReactNode
  children?: ReactNode
}

/** One thing that wants a person's eye, and what they can do; below its words where the screen is narrow. */
export function InboxItem({ icon, tone, title, action, children }: InboxItemProps) {
  return (
    <li className="flex items-start gap-3 px-5 py-3 text-sm">
      <span
        className={cx(
          'mt-0.5 inline-flex size-8 shrink-0 items-center justify-center rounded-full',
          toneClass[tone],
        )}
      >
        <Icon name={icon} />
      </span>
      <div className="flex min-w-0 flex-1 gap-x-4 gap-y-2 max-sm:flex-col sm:items-start sm:justify-between">
        <div className="min-w-0">
          <p className="font-medium">{title}</p>
          {children && <p className="text-muted">{children}</p>}
        </div>
        <div className="flex shrink-0 gap-1 sm:flex-row-reverse">{action}</div>
      </div>
    </li>
  )
}
