import { Trans } from '@lingui/react/macro'
import { describeError } from '../errors/codes.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { Time } from '../ui/Time.tsx'

export type StaleBannerProps = {
  /** Why the last reading failed; nothing while all is well. */
  error: unknown
  /** When what is shown was read. Unix milliseconds. */
  readAt: number
  onRetry: () => void
}

/** Old figures stay in view; this says that they are old, and why. */
export function StaleBanner({ error, readAt, onRetry }: StaleBannerProps) {
  if (!error) return null
  const reason = describeError(error).title
  return (
    <Banner
      action={
        <Button onClick={onRetry} size="sm" variant="quiet">
          <Trans>Try again</Trans>
        </Button>
      }
      className="mb-4"
      role="status"
      tone="warn"
    >
      <Trans>
        {reason}. This is from <Time at={readAt} />.
      </Trans>
    </Banner>
  )
}
