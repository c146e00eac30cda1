import type { ReactNode } from 'react'
import { cx } from './button-class.ts'

/** The way on, at the end of a card. It stays on the screen while the card does, on a phone above the dashboard's own bar. */
export function BottomBar({ className, children }: { className: string; children: ReactNode }) {
  return (
    <div
      className={cx(
        'sticky bottom-16 border-t border-line bg-surface in-data-[shell=pay]:bottom-0 lg:bottom-0',
        className,
      )}
    >
      {children}
    </div>
  )
}
