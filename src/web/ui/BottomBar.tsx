import type { ReactNode } from 'react'
import { cx } from './button-class.ts'

export type BottomBarProps = {
  /** After the cards of a page, not at the end of one: then it is in view whatever stands above it. */
  page?: boolean
  className: string
  children: ReactNode
}

/** The way on, which stays on the screen: on a phone above the dashboard's own bar, or above the system's. */
export function BottomBar({ page = false, className, children }: BottomBarProps) {
  return (
    <div
      className={cx(
        'sticky bottom-[calc(4rem+env(safe-area-inset-bottom))] in-data-[shell=pay]:bottom-0 in-data-[shell=pay]:pb-[max(1rem,env(safe-area-inset-bottom))] lg:bottom-0',
        page ? 'bg-canvas' : 'border-t border-line bg-surface',
        className,
      )}
    >
      {children}
    </div>
  )
}
