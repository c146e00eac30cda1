import type { ReactNode } from 'react'

/** The title of a result. The focus comes here when the result is new, clear of the page's sticky header. */
export function ResultTitle({ children }: { children: ReactNode }) {
  return (
    <span className="scroll-mt-24 outline-none" data-step-heading tabIndex={-1}>
      {children}
    </span>
  )
}
