import { useId, type ReactNode } from 'react'
import { Icon } from './Icon.tsx'

/** A word explained where it stands: a small button beside it opens the explanation, by pointer, touch or key. */
export function Tooltip({ label, children }: { /** "What is finality?" */ label: string; children: ReactNode }) {
  const id = useId()
  const anchor = `--${id.replace(/[^a-zA-Z0-9]/g, '')}`
  return (
    <>
      <button
        aria-label={label}
        className="touch-target inline-flex size-5 items-center justify-center rounded-full align-middle text-faint hover:text-ink"
        popoverTarget={id}
        style={{ anchorName: anchor }}
        type="button"
      >
        <Icon name="question" size={14} />
      </button>
      <div
        className="m-1 max-w-72 rounded-lg border border-line bg-raised px-3 py-2 text-sm font-normal text-ink shadow-lift [position-area:block-end_span-inline-end] [position-try-fallbacks:flip-block,flip-inline]"
        id={id}
        popover="auto"
        style={{ positionAnchor: anchor }}
      >
        {children}
      </div>
    </>
  )
}
