import { useLingui } from '@lingui/react/macro'
import { Skeleton } from '../../ui/Skeleton.tsx'

export function ListSkeleton() {
  const { t } = useLingui()
  return (
    <div
      aria-busy="true"
      aria-label={t`Loading payments`}
      className="overflow-hidden rounded-xl border border-line bg-surface"
      role="status"
    >
      {Array.from({ length: 8 }, (_, index) => (
        <div
          className="flex h-16 items-center gap-3 border-b border-line px-5 last:border-b-0"
          key={index}
        >
          <Skeleton className="size-8 rounded-full" />
          <div className="flex-1 space-y-1.5">
            <Skeleton className="h-3.5 w-28" />
            <Skeleton className="h-3 w-16" />
          </div>
          <Skeleton className="h-3.5 w-24 max-md:hidden" />
          <Skeleton className="h-6 w-20 rounded-full" />
        </div>
      ))}
    </div>
  )
}
