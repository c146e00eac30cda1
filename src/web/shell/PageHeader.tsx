import type { ReactNode } from 'react'

export type PageHeaderProps = { title: ReactNode; /** One quiet line. */ subtitle?: ReactNode; action?: ReactNode }

/** A page's heading. The focus comes here when the page changes. */
export function PageHeader({ title, subtitle, action }: PageHeaderProps) {
  return (
    <div className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold" data-page-heading tabIndex={-1}>
          {title}
        </h1>
        {subtitle && <p className="text-sm text-muted">{subtitle}</p>}
      </div>
      {action}
    </div>
  )
}
