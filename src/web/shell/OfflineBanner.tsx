import { Trans } from '@lingui/react/macro'
import { HeaderNotice } from './HeaderNotice.tsx'
import { useOnline } from './use-online.ts'

/** While the device has no connection: what is shown is old, and nothing that moves money is queued. */
export function OfflineBanner() {
  if (useOnline()) return null
  return (
    <HeaderNotice icon="offline">
      <Trans>You are offline. What you see may be old; payments wait until you are back.</Trans>
    </HeaderNotice>
  )
}
