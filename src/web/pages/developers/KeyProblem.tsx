import { Trans } from '@lingui/react/macro'
import { describeError } from '../../api/error-words.ts'
import { ApiError } from '../../api/errors.ts'
import { Banner } from '../../ui/Banner.tsx'

/** Why a key was not made or ended. An answer that was lost may have made one, whose text nobody saw. */
export function KeyProblem({ problem }: { problem: unknown }) {
  const lost = problem instanceof ApiError && (problem.code === 'OFFLINE' || problem.code === 'TIMEOUT' || problem.code === 'BAD_RESPONSE')
  const refused = problem instanceof ApiError && problem.code === 'FORBIDDEN'
  const { title, body } = describeError(problem)
  return (
    <Banner role="alert" title={refused ? <Trans>The desk cannot give that</Trans> : title} tone="bad">
      {refused ? (
        // The service's own words name the scope or the plan.
        problem.message
      ) : lost ? (
        <Trans>It is not known whether the key was made. Look at the list: one that you never saw is of no use, so delete it and make another.</Trans>
      ) : (
        body
      )}
    </Banner>
  )
}
