import { Trans } from '@lingui/react/macro'
import { usePauseSeconds } from '../api/rate-limit-pause.ts'
import { HeaderNotice } from './HeaderNotice.tsx'

/** After a refusal for asking too often: why nothing moves, and when it goes on. The countdown is not read out. */
export function PauseBanner() {
  const seconds = usePauseSeconds()
  if (seconds === 0) return null
  return (
    <HeaderNotice icon="hourglass">
      <span className="sr-only">
        <Trans>
          Paused for a moment: the service limits how often it is asked. It goes on by itself.
        </Trans>
      </span>
      <span aria-hidden className="figures">
        <Trans>
          Paused for a moment: the service limits how often it is asked. It goes on by itself in{' '}
          {seconds} s.
        </Trans>
      </span>
    </HeaderNotice>
  )
}
