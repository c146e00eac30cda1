import { Trans } from '@lingui/react/macro'
import { useSessionEnded } from '../api/session-end.ts'
import { Banner } from '../ui/Banner.tsx'

/**
 * Tells a reader whose session ended why they must sign in again; shows nothing to everyone else.
 */
export function SessionEnded({ className }: { className?: string }) {
  if (!useSessionEnded()) return null
  return (
    <Banner className={className} role="status" tone="info">
      <Trans>Session ended.</Trans>
    </Banner>
  )
}
