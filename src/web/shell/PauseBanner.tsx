import { usePauseSeconds } from '../api/pause.ts'
import { HeaderNotice } from './HeaderNotice.tsx'

/** After a refusal for asking too often: why nothing moves, and when it goes on. The countdown is not read out. */
export function PauseBanner() {
  const seconds = usePauseSeconds()
  if (seconds === 0) return null
  return (
    <HeaderNotice icon="hourglass">
      Paused for a moment: the service limits how often it is asked. It goes on by itself
      <span aria-hidden className="figures">
        {' '}
        in {seconds} s
      </span>
      .
    </HeaderNotice>
  )
}
