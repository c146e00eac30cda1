import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { useSession } from '../api/session.ts'
import type { Viewer } from '../api/queries.ts'
import { useSessionEnded } from '../api/session-end.ts'
import { QueryError } from '../shell/QueryError.tsx'
import { Card } from '../ui/Card.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'
import { SignIn } from './SignIn.tsx'

export type SignedInProps = {
  /** Shaped like what comes. */
  skeleton: ReactNode
  /** What signing in shows, for example "Sign in to see your payments". */
  invitation: ReactNode
  children: (viewer: Viewer) => ReactNode
}

/** Shows its children to someone who proved a wallet, and the way there to everyone else. */
export function SignedIn({ skeleton, invitation, children }: SignedInProps) {
  const state = useSession()
  const ended = useSessionEnded()
  if (state.kind === 'loading') return skeleton
  if (state.kind === 'failed') return <QueryError error={state.error} onRetry={state.retry} />
  if (state.viewer) return children(state.viewer)
  return (
    <Card>
      <EmptyState action={<SignIn />} icon="wallet" title={invitation}>
        {ended && (
          <p className="mb-2 text-ink" role="status">
            <Trans>Your session has ended: its time ran out, or you signed out elsewhere.</Trans>
          </p>
        )}
        <Trans>You sign a short text with your wallet. It costs nothing and moves no money.</Trans>
      </EmptyState>
    </Card>
  )
}
