import { Trans } from '@lingui/react/macro'
import { describeError } from '../errors/codes.ts'
import { SignIn } from './SignIn.tsx'
import { Button } from '../ui/Button.tsx'
import { ErrorState } from '../ui/ErrorState.tsx'
import { Icon } from '../ui/Icon.tsx'

/** What could not be read, in words, with what the reader can do. */
export function QueryError({
  error,
  onRetry,
  busy,
}: {
  error: unknown
  onRetry: () => void
  busy?: boolean
}) {
  const { title, body, action, detail } = describeError(error)
  return (
    <ErrorState
      action={
        action === 'retry' ? (
          <Button busy={busy} icon={<Icon name="refresh" />} onClick={onRetry}>
            <Trans>Try again</Trans>
          </Button>
        ) : (
          action === 'sign_in' && <SignIn />
        )
      }
      body={body}
      detail={detail}
      title={title}
    />
  )
}
