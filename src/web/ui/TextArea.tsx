import type { ComponentProps } from 'react'
import { cx } from './button-class.ts'
import { useFieldIds } from './Field.tsx'

/** Several lines of text, as tall as what is in it where the browser can do that. `mono`: for headers, proofs and other code. */
export function TextArea({
  mono,
  className,
  ...props
}: ComponentProps<'textarea'> & { mono?: boolean }) {
  return (
    <textarea
      {...useFieldIds()}
      className={cx(
        'field-sizing-content max-h-80 min-h-20 w-full rounded-lg border border-edge bg-surface px-3 py-2 text-ink transition-colors placeholder:text-faint focus-visible:border-accent focus-visible:outline-2 focus-visible:-outline-offset-1 focus-visible:outline-accent aria-invalid:border-bad-edge',
        mono ? 'font-mono field-code break-all' : 'field-text',
        className,
      )}
      {...props}
    />
  )
}
