import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { Skeleton } from '../ui/Skeleton.tsx'

const SPEAKS_AFTER_MS = 3_000

/** Shown while a page's code or the public configuration loads. */
export function PageSkeleton() {
  const { t } = useLingui()
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SPEAKS_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div aria-busy="true" aria-label={t`Loading`} role="status">
      {slow && (
        <p className="mb-6 text-sm text-muted">
          <Trans>The server has not answered yet.</Trans>
        </p>
      )}
      <Skeleton className="mb-6 h-8 w-40" />
      <div className="grid gap-4 sm:grid-cols-2">
        <Skeleton className="h-36 rounded-xl" />
        <Skeleton className="h-36 rounded-xl" />
      </div>
      <Skeleton className="mt-4 h-72 rounded-xl" />
    </div>
  )
}
