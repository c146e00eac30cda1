import { Trans } from '@lingui/react/macro'
import { Icon } from '../ui/Icon.tsx'

const APPLE = /Mac|iPhone|iPad/

/** Whether these keys open the search: ⌘K on a Mac, where Control and K delete to the end of a line, Ctrl K elsewhere. */
export function isSearchKey(event: KeyboardEvent): boolean {
  const modifier = APPLE.test(navigator.platform)
    ? event.metaKey && !event.ctrlKey
    : event.ctrlKey && !event.metaKey
  return modifier && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k'
}

/** Opens the search of pages and payments; where there is room, with its keys. */
export function SearchButton({ onOpen, onNear }: { onOpen: () => void; onNear: () => void }) {
  const apple = APPLE.test(navigator.platform)
  return (
    <button
      aria-haspopup="dialog"
      aria-keyshortcuts={apple ? 'Meta+K' : 'Control+K'}
      className="touch-target inline-flex h-10 items-center gap-2 rounded-lg text-sm text-muted hover:bg-hover hover:text-ink max-sm:w-10 max-sm:justify-center sm:border sm:border-line sm:px-3"
      onClick={onOpen}
      onFocus={onNear}
      onPointerEnter={onNear}
      type="button"
    >
      <Icon name="search" size={20} />
      <span className="max-sm:sr-only">
        <Trans>Search</Trans>
      </span>
      <kbd className="rounded border border-line bg-sunken px-1.5 font-sans text-xs max-sm:hidden">
        {apple ? '⌘K' : 'Ctrl K'}
      </kbd>
    </button>
  )
}
