import { plural } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useEffect } from 'react'
import { announce } from '../../ui/announce.tsx'
import { Icon } from '../../ui/Icon.tsx'

/** New payments wait behind a button: rows never move under a pointer. */
export function NewPaymentsPill({ count, onShow }: { count: number; onShow: () => void }) {
  const { t } = useLingui()
  const words = t`${plural(count, { one: '# new payment', other: '# new payments' })}`
  useEffect(() => {
    if (count > 0) announce(words)
  }, [count, words])

  if (count === 0) return null
  return (
    <div className="pointer-events-none sticky top-20 z-10 mb-3 flex justify-center">
      <button
        className="animate-arrive touch-target pointer-events-auto inline-flex h-9 items-center gap-2 rounded-full border border-line bg-raised px-4 text-sm font-medium text-accent-ink shadow-lift hover:bg-hover"
        onClick={onShow}
        type="button"
      >
        <Icon className="-rotate-90" name="chevronRight" />
        {words}
      </button>
    </div>
  )
}
