import type { ReactNode } from 'react'
import { Icon } from './Icon.tsx'

export type ErrorStateProps = {
  title: ReactNode
  /** What it means and what can be done, in plain words. */
  body?: ReactNode
  action?: ReactNode
  /** For a report: a request id, a code. */
  detail?: ReactNode
}

/** In place of what could not be shown. */
export function ErrorState({ title, body, action, detail }: ErrorStateProps) {
  return (
    <div
      className="mx-auto flex max-w-108 flex-col items-center px-5 py-12 text-center"
      role="alert"
    >
      <span className="mb-4 inline-flex size-10 items-center justify-center rounded-full bg-bad-soft text-bad-ink">
        <Icon name="warning" size={20} />
      </span>
      <p className="font-medium">{title}</p>
      {body && <div className="mt-1 text-sm text-muted">{body}</div>}
      {action && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
      {detail && <p className="mt-4 font-mono text-xs text-faint">{detail}</p>}
    </div>
  )
}
