import type { ReactNode } from 'react'
import { cx } from './button-class.ts'
import { Icon, type IconName } from './Icon.tsx'
import { toneClass, type Tone } from './Badge.tsx'

export type TimelineEntry = {
  id: string
  title: ReactNode
  /** Under the title: who saw it, at which block. */
  detail?: ReactNode
  /** At the end of the line, usually a `Time`. */
  aside?: ReactNode
  icon?: IconName
  tone?: Tone
  /** Not there yet: drawn hollow. */
  ahead?: boolean
}

export function Timeline({ label, entries }: { label: string; entries: readonly TimelineEntry[] }) {
  return (
    <ol aria-label={label}>
      {entries.map((entry, index) => (
        <li className="relative flex gap-3 pb-5 last:pb-0" key={entry.id}>
          {index < entries.length - 1 && (
            <span
              aria-hidden
              className={cx(
                'absolute start-3 top-7 bottom-1 w-px -translate-x-1/2',
                entries[index + 1]?.ahead ? 'border-s border-dashed border-edge' : 'bg-edge',
              )}
            />
          )}
          <span
            className={cx(
              'inline-flex size-6 shrink-0 items-center justify-center rounded-full',
              entry.ahead
                ? 'border border-dashed border-edge text-faint'
                : toneClass[entry.tone ?? 'neutral'],
            )}
          >
            {entry.icon && <Icon name={entry.icon} size={14} />}
          </span>
          <div className="min-w-0 flex-1 pt-0.5">
            <div className="flex flex-wrap items-baseline justify-between gap-x-4">
              <span className={cx('text-sm font-medium', entry.ahead && 'text-faint')}>
                {entry.title}
              </span>
              {entry.aside && <span className="text-xs text-muted">{entry.aside}</span>}
            </div>
            {entry.detail && <div className="text-sm text-muted">{entry.detail}</div>}
          </div>
        </li>
      ))}
    </ol>
  )
}
