import type { ReactNode } from 'react'
import { toneClass, type Tone } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { cx } from '../../ui/button-class.ts'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { StepHeading } from './Steps.tsx'

/** The progress of a signed transaction or message, in words. `body`: empty where the title says all. */
export type Progress = { title: string; body: string; tone: Tone; icon: IconName; working: boolean }

export type ProgressCardProps = {
  progress: Progress
  /** Below the text. */
  note?: ReactNode
  /** Opposite the text. */
  aside?: ReactNode
  children?: ReactNode
}

/** The state of a transaction, shown beside the page content that it belongs to. */
export function ProgressCard({
  progress: { title, body, tone, icon, working },
  note,
  aside,
  children,
}: ProgressCardProps) {
  return (
    <Card>
      <div className="flex items-start gap-4">
        <span
          className={cx(
            'inline-flex size-10 shrink-0 items-center justify-center rounded-full',
            toneClass[tone],
          )}
        >
          {working ? <Spinner /> : <Icon name={icon} size={20} />}
        </span>
        <div className="min-w-0 flex-1">
          <StepHeading>{title}</StepHeading>
          {body && <p className="text-sm text-muted">{body}</p>}
          {note}
        </div>
        {aside}
      </div>
      {children}
    </Card>
  )
}
