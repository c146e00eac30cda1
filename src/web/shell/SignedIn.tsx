import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { useSession } from '../api/session.ts'
import type { Viewer } from '../api/queries.ts'
import { QueryError } from './QueryError.tsx'
import { Card } from '../ui/Card.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'
import { SessionEnded } from '../session/SessionEnded.tsx'
import { SignIn } from './SignIn.tsx'

export type SignedInProps = {
  /** The shape of the content to come. */
  skeleton: ReactNode
  /** What signing in is for, where it is not this page. */
  invitation?: ReactNode
  children: (viewer: Viewer) => ReactNode
}

/** Shows its children to signed-in readers, and the sign-in to everyone else. */
export function SignedIn({
  skeleton,
  invitation = <Trans>Sign in to see this page</Trans>,
  children,
}: SignedInProps) {
  const state = useSession()
  if (state.kind === 'loading') return skeleton
  if (state.kind === 'failed') return <QueryError error={state.error} onRetry={state.retry} />
  if (state.viewer) return children(state.viewer)
  return (
    <Card>
      <SessionEnded />
      <EmptyState action={<SignIn />} icon="wallet" title={invitation}>
        <Trans>You sign a message. No money moves.</Trans>
      </EmptyState>
    </Card>
  )
}
