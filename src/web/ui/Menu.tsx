import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react'
import { cx } from './button-class.ts'
import { positionPopover } from './position-popover.ts'

export type MenuItem = {
  id: string
  label: ReactNode
  icon?: ReactNode
  onSelect: () => void
  /** One of a set is chosen: read out and ticked by the caller's icon. */
  checked?: boolean
  danger?: boolean
}

export type MenuProps = {
  /** The accessible name of the button and the menu. */
  label: string
  /** What the button shows. */
  trigger: ReactNode
  triggerClassName: string
  items: readonly MenuItem[]
  /** Above the items, not focusable. */
  heading?: ReactNode
}

/** The platform moves the focus while it opens the popover: the next key already finds it there. React's `autoFocus` sets no attribute. */
function focusWhenOpened(first: HTMLElement | null): void {
  first?.setAttribute('autofocus', '')
}

/** A menu button on the platform's popover: light dismiss and Escape come with it; arrows, Home and End are ours. */
export function Menu({ label, trigger, triggerClassName, items, heading }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)

  function move(event: KeyboardEvent) {
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
    const at = buttons.findIndex((each) => each === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key]
    if (to === undefined) {
      if (event.key === 'Tab') list.current?.hidePopover()
      return
    }
    event.preventDefault()
    buttons.at(to % buttons.length)?.focus()
  }

  return (
    <>
      <button
        aria-haspopup="menu"
        aria-label={label}
        className={triggerClassName}
        popoverTarget={id}
        ref={button}
        title={label}
        type="button"
      >
        {trigger}
      </button>
      <div
        aria-label={label}
        className="fixed inset-auto m-0 min-w-52 rounded-lg border border-line bg-raised p-1 text-ink shadow-lift"
        id={id}
        onKeyDown={move}
        onToggle={(event) => {
          if (event.newState !== 'open') return
          if (list.current && button.current) positionPopover(list.current, button.current)
        }}
        popover="auto"
        ref={list}
        role="menu"
      >
        {heading && <div className="px-3 py-2 text-xs text-muted">{heading}</div>}
        {items.map((item, index) => (
          <button
            aria-checked={item.checked}
            className={cx(
              'flex min-h-9 w-full items-center gap-2.5 rounded-md px-3 text-start pointer-coarse:min-h-11 text-sm hover:bg-hover focus-visible:-outline-offset-2',
              item.danger && 'text-bad-ink',
            )}
            key={item.id}
            ref={index === 0 ? focusWhenOpened : undefined}
            onClick={() => {
              list.current?.hidePopover()
              item.onSelect()
            }}
            role={item.checked === undefined ? 'menuitem' : 'menuitemradio'}
            tabIndex={-1}
            type="button"
          >
            {item.icon && <span className="flex text-muted">{item.icon}</span>}
            <span className="flex-1">{item.label}</span>
          </button>
        ))}
      </div>
    </>
  )
}
