import { useId, type ComponentProps, type ReactNode } from 'react'
import { Icon } from './Icon.tsx'

export type CheckboxProps = Omit<ComponentProps<'input'>, 'type' | 'id'> & {
  label: ReactNode
  hint?: ReactNode
}

export function Checkbox({ label, hint, className, ...rest }: CheckboxProps) {
  const id = useId()
  return (
    <div className={`flex items-start gap-2.5 ${className ?? ''}`}>
      <span className="relative mt-0.5 inline-flex">
        <input
          aria-describedby={hint ? `${id}-hint` : undefined}
          className="peer touch-target size-5 appearance-none rounded-sm border border-edge bg-surface transition-colors checked:border-accent checked:bg-accent disabled:opacity-55"
          id={id}
          type="checkbox"
          {...rest}
        />
        <Icon
          className="pointer-events-none absolute inset-0 m-auto text-on-accent opacity-0 peer-checked:opacity-100"
          name="check"
        />
      </span>
      <span className="text-sm">
        <label className="text-ink" htmlFor={id}>
          {label}
        </label>
        {hint && (
          <span className="block text-muted" id={`${id}-hint`}>
            {hint}
          </span>
        )}
      </span>
    </div>
  )
}
