import { useSyncExternalStore } from 'react'
import { Icon } from '../ui/Icon.tsx'

/** While the device has no connection: what is shown is old, and nothing that moves money is queued. */
export function OfflineBanner() {
  const online = useSyncExternalStore(subscribe, () => navigator.onLine)
  if (online) return null
  return (
    <p className="flex items-center gap-2 bg-warn-soft px-4 py-2 text-sm text-warn-ink sm:px-6 lg:px-10" role="status">
      <Icon name="offline" />
      You are offline. What you see may be old; payments wait until you are back.
    </p>
  )
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}
