import { Icon } from '../ui/Icon.tsx'
import { useOnline } from './use-online.ts'

/** While the device has no connection: what is shown is old, and nothing that moves money is queued. */
export function OfflineBanner() {
  if (useOnline()) return null
  return (
    <div className="bg-warn-soft text-sm text-warn-ink forced-edge">
      <p className="mx-auto flex max-w-[1160px] items-start gap-2 px-4 py-2 sm:px-6 lg:px-10" role="status">
        <Icon className="mt-0.5 shrink-0" name="offline" />
        You are offline. What you see may be old; payments wait until you are back.
      </p>
    </div>
  )
}
