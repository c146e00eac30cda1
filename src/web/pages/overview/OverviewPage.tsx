import { lazy, Suspense } from 'react'
import { useSession } from '../../api/session.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { Welcome } from './Welcome.tsx'

// A visitor who is not signed in never needs the figures and their charts.
const Figures = lazy(() => import('./Figures.tsx').then((module) => ({ default: module.Figures })))

/** Recent activity for signed-in readers; the next step for everyone else. */
export function OverviewPage() {
  const state = useSession()
  if (state.kind === 'loading') return <PageSkeleton />
  if (state.kind === 'failed') return <QueryError error={state.error} onRetry={state.retry} />
  if (!state.viewer) return <Welcome />
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Figures viewer={state.viewer} />
    </Suspense>
  )
}
