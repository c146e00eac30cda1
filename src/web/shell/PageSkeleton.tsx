import { useLingui } from '@lingui/react/macro'
import { Skeleton } from '../ui/Skeleton.tsx'

/** Shown while a page's code or the public configuration loads. */
export function PageSkeleton() {
  const { t } = useLingui()
  return (
    <div aria-busy="true" aria-label={t`Loading`} role="status">
      <Skeleton className="mb-6 h-8 w-40" />
      <div className="grid gap-4 sm:grid-cols-2">
        <Skeleton className="h-36 rounded-xl" />
        <Skeleton className="h-36 rounded-xl" />
      </div>
      <Skeleton className="mt-4 h-72 rounded-xl" />
    </div>
  )
}
