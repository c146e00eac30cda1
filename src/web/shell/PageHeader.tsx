import type { ReactNode } from 'react'
import { PageHeading } from './PageHeading.tsx'

export type PageHeaderProps = {
  title: ReactNode
  /** One quiet line. */ subtitle?: ReactNode
  action?: ReactNode
}

/** A page's heading, a line under it, and what acts on the whole page. */
export function PageHeader({ title, subtitle, action }: PageHeaderProps) {
  return (
    <div className="mb-6 flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <PageHeading className="text-xl font-semibold">{title}</PageHeading>
        {subtitle && <p className="text-sm text-muted">{subtitle}</p>}
      </div>
      {action}
    </div>
  )
}
