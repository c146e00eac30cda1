import type { ReactNode } from 'react'
import { arriveAtHeading } from '../router/heading-focus.ts'

/** The page's one first-level heading. The focus comes here when the page changes. */
export function PageHeading({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <h1 className={className} ref={arriveAtHeading} tabIndex={-1}>
      {children}
    </h1>
  )
}
