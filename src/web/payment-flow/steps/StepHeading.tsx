import type { ReactNode } from 'react'

/** A step's heading. The focus comes here when the step changes, clear of the page's sticky header. */
export function StepHeading({ large, children }: { large?: boolean; children: ReactNode }) {
  return (
    <h2
      className={
        large ? 'mt-3 scroll-mt-24 text-lg font-semibold' : 'scroll-mt-24 text-base font-semibold'
      }
      data-step-heading
      tabIndex={-1}
    >
      {children}
    </h2>
  )
}
