import { useSession } from '../../api/session.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { Figures } from './Figures.tsx'
import { Welcome } from './Welcome.tsx'

/** What happened lately, for someone who proved a wallet; the next step, for everyone else. */
export function OverviewPage() {
  const state = useSession()
  if (state.kind === 'loading') return <PageSkeleton />
  if (state.kind === 'failed') return <QueryError error={state.error} onRetry={state.retry} />
  return state.viewer ? <Figures viewer={state.viewer} /> : <Welcome />
}
