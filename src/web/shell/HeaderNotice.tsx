import type { ReactNode } from 'react'
import { Icon, type IconName } from '../ui/Icon.tsx'

/** A notice across the top of the page that applies to everything below it. */
export function HeaderNotice({ icon, children }: { icon: IconName; children: ReactNode }) {
  return (
    <div className="bg-warn-soft text-sm text-warn-ink forced-edge">
      <p
        className="mx-auto flex max-w-[1160px] items-start gap-2 px-4 py-2 sm:px-6 lg:px-10"
        role="status"
      >
        <Icon className="mt-0.5 shrink-0" name={icon} />
        <span>{children}</span>
      </p>
    </div>
  )
}
