import { useEffect, useState, type ReactNode } from 'react'
import { ApiError } from '../api/errors.ts'
import { reloadForNewVersion } from '../api/new-version.ts'
import { describeError } from '../errors/codes.ts'
import { loadMessages } from '../locales/language.ts'
import { isSearchKey } from '../shell/SearchButton.tsx'
import { toast } from '../ui/Toast.tsx'

const load = async () =>
  (
    await Promise.all([
      import('../palette/Palette.tsx'),
      loadMessages('palette'),
      loadMessages('payment-view'),
    ])
  )[0].Palette

type UsePalette = {
  open: () => void
  /** Somebody is about to open it. */
  preload: () => void
  /** The palette, where it is open. */
  palette: ReactNode
}

/**
 * The command palette of the dashboard: its code is fetched when it is first wanted. Its keys do nothing while a dialog is
 * open: what somebody is about to sign is never covered.
 */
export function usePalette(): UsePalette {
  const [wanted, setWanted] = useState(false)
  const [Palette, setPalette] = useState<Awaited<ReturnType<typeof load>>>()

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!isSearchKey(event)) return
      event.preventDefault()
      if (!document.querySelector('dialog[open]')) setWanted(true)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])

  // Where its code cannot be fetched, the page says so, and the next press tries again.
  useEffect(() => {
    if (!wanted) return
    load().then(
      (loaded) => setPalette(() => loaded),
      async () => {
        setWanted(false)
        if (!(await reloadForNewVersion()))
          toast(describeError(new ApiError({ code: 'OFFLINE' })).title, { tone: 'bad' })
      },
    )
  }, [wanted])

  return {
    open: () => setWanted(true),
    preload: () => void load().catch(() => undefined),
    palette: wanted && Palette && <Palette onClose={() => setWanted(false)} />,
  }
}
