import { Trans } from '@lingui/react/macro'
import { createContext, use, useId, type ReactNode } from 'react'
import { Icon } from './Icon.tsx'

type FieldIds = {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

const FieldContext = createContext<FieldIds | undefined>(undefined)

/** What a control inside a `Field` carries, so that label, hint and error belong to it. */
export function useFieldIds(): Partial<FieldIds> {
  return use(FieldContext) ?? {}
}

export type FieldProps = {
  label: ReactNode
  /** Under the control, always there. */
  hint?: ReactNode
  /** What is wrong and how to put it right; replaces nothing. */
  error?: ReactNode
  /** At the end of the label's line, for example a balance. */
  aside?: ReactNode
  optional?: boolean
  children: ReactNode
  className?: string
}

export function Field({ label, hint, error, aside, optional, children, className }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className={className}>
      <div className="mb-1.5 flex items-baseline justify-between gap-3">
        <label className="text-sm font-medium text-ink" htmlFor={id}>
          {label}
          {optional && (
            <span className="ms-1.5 font-normal text-faint">
              <Trans>optional</Trans>
            </span>
          )}
        </label>
        {aside && <span className="text-sm text-muted">{aside}</span>}
      </div>
      <FieldContext
        value={{
          id,
          'aria-describedby': described || undefined,
          'aria-invalid': error ? true : undefined,
        }}
      >
        {children}
      </FieldContext>
      {hint && (
        <p className="mt-1.5 text-sm text-muted" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="mt-1.5 flex items-start gap-1.5 text-sm text-bad-ink" id={`${id}-error`}>
          <Icon className="mt-0.5 shrink-0" name="warning" />
          <span>{error}</span>
        </p>
      )}
    </div>
  )
}
