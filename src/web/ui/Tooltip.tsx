import { useId, useRef, type ReactNode } from 'react'
import { Icon } from './Icon.tsx'
import { positionPopover } from './position-popover.ts'

/** A word explained where it stands: a small button beside it opens the explanation, by pointer, touch or key. */
export function Tooltip({
  label,
  children,
}: {
  /** "What is finality?" */ label: string
  children: ReactNode
}) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button
        aria-label={label}
        className="touch-target -my-1 inline-flex size-6 items-center justify-center rounded-full align-middle text-faint hover:text-ink"
        popoverTarget={id}
        ref={button}
        type="button"
      >
        <Icon name="question" size={14} />
      </button>
      <div
        className="fixed inset-auto m-0 max-w-72 rounded-lg border border-line bg-raised px-3 py-2 text-sm font-normal text-ink shadow-lift"
        id={id}
        onToggle={(event) =>
          event.newState === 'open' &&
          button.current &&
          positionPopover(event.currentTarget, button.current)
        }
        popover="auto"
      >
        {children}
      </div>
    </>
  )
}
