import { useId, useRef, type ReactNode } from 'react'
import { buttonClass, type ButtonVariant } from './button-class.ts'
import { positionPopover } from './position-popover.ts'

export type PopoverProps = {
  /** The accessible name of what opens. */
  label: string
  /** What the button shows. */
  trigger: ReactNode
  look?: ButtonVariant
  className?: string
  /** Gets a way to close it. */
  children: (close: () => void) => ReactNode
}

/** A button that opens a small form on the platform's popover: a click beside it or Escape closes it, and the focus comes back. */
export function Popover({ label, trigger, look, className, children }: PopoverProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const box = useRef<HTMLDivElement>(null)
  return (
    <>
      <button
        aria-haspopup="dialog"
        className={buttonClass(look, className)}
        popoverTarget={id}
        ref={button}
        type="button"
      >
        {trigger}
      </button>
      <div
        aria-label={label}
        className="fixed inset-auto m-0 max-h-[80dvh] w-76 max-w-[calc(100vw-16px)] overflow-auto rounded-lg border border-line bg-raised p-4 text-sm text-ink shadow-lift"
        id={id}
        onToggle={(event) => {
          if (event.newState !== 'open') return
          if (box.current && button.current) positionPopover(box.current, button.current)
          box.current?.querySelector<HTMLElement>('input, select, textarea, button')?.focus()
        }}
        popover="auto"
        ref={box}
        role="dialog"
      >
        {children(() => document.getElementById(id)?.hidePopover())}
      </div>
    </>
  )
}
