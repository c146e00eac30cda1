import { Trans } from '@lingui/react/macro'
import { cx } from './button-class.ts'
import { Icon } from './Icon.tsx'

export type StepperProps = {
  /** What the steps lead to; read out. */
  label: string
  steps: readonly { id: string; label: string }[]
  current: string
}

/** Where the reader is in a few steps. It shows, it does not navigate. */
export function Stepper({ label, steps, current }: StepperProps) {
  const at = steps.findIndex((step) => step.id === current)
  return (
    <ol aria-label={label} className="flex items-center gap-2">
      {steps.map((step, index) => {
        const done = index < at
        const here = index === at
        return (
          <li
            aria-current={here ? 'step' : undefined}
            className={cx(
              'flex min-w-0 items-center gap-2',
              index > 0 && (here ? 'flex-auto' : 'flex-1'),
            )}
            key={step.id}
          >
            {index > 0 && (
              <span
                aria-hidden
                className={cx('h-px min-w-3 flex-1', index <= at ? 'bg-accent' : 'bg-line')}
              />
            )}
            <span
              className={cx(
                'figures inline-flex size-6 shrink-0 items-center justify-center rounded-full border text-xs font-medium',
                here
                  ? 'border-accent bg-accent text-on-accent'
                  : done
                    ? 'border-accent text-accent'
                    : 'border-edge text-faint',
              )}
            >
              {done ? <Icon name="check" size={14} /> : index + 1}
            </span>
            <span
              className={cx(
                'text-sm whitespace-nowrap',
                here ? 'font-medium text-ink' : 'text-muted max-sm:sr-only',
              )}
            >
              {step.label}
              {done && (
                <span className="sr-only">
                  <Trans>, done</Trans>
                </span>
              )}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
