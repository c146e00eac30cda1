import type { ReactNode } from 'react'

/** A setting's name and what it means now at the start, its control at the end of the line. */
export function SettingRow({
  name,
  note,
  children,
}: {
  name: ReactNode
  note?: ReactNode
  children: ReactNode
}) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 py-4 first:pt-0 last:pb-0">
      <div>
        <p className="text-sm font-medium">{name}</p>
        {note && <p className="text-sm text-muted">{note}</p>}
      </div>
      {children}
    </div>
  )
}
