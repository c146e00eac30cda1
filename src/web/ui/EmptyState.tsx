import type { ReactNode } from 'react'
import { Icon, type IconName } from './Icon.tsx'

export type EmptyStateProps = {
  icon?: IconName
  title: ReactNode
  /** Why it is empty, and the next step. */
  children?: ReactNode
  action?: ReactNode
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="mx-auto flex max-w-96 flex-col items-center px-5 py-12 text-center">
      {icon && (
        <span className="mb-4 inline-flex size-10 items-center justify-center rounded-full bg-neutral-soft text-neutral-ink">
          <Icon name={icon} size={20} />
        </span>
      )}
      <p className="font-medium">{title}</p>
      {children && <div className="mt-1 text-sm text-muted">{children}</div>}
      {action && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}
