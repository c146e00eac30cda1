import { useLingui } from '@lingui/react/macro'
import { type ReactNode, useEffect, useRef, type RefObject } from 'react'
import { Stepper } from '../../ui/Stepper.tsx'

export type StepName = 'details' | 'review' | 'wallet' | 'done'

export function Steps({ current }: { current: StepName }) {
  const { t } = useLingui()
  const steps: { id: StepName; label: string }[] = [
    { id: 'details', label: t`Details` },
    { id: 'review', label: t`Review` },
    { id: 'wallet', label: t`Wallet` },
    { id: 'done', label: t`Done` },
  ]
  return (
    <div className="no-print mb-5">
      <Stepper current={current} label={t`Payment`} steps={steps} />
    </div>
  )
}

/** A step's heading. The focus comes here when the step changes, clear of the page's sticky header. */
export function StepHeading({ large, children }: { large?: boolean; children: ReactNode }) {
  return (
    <h2
      className={
        large ? 'mt-3 scroll-mt-24 text-lg font-semibold' : 'scroll-mt-24 text-base font-semibold'
      }
      data-step-heading
      tabIndex={-1}
    >
      {children}
    </h2>
  )
}

/** A new screen is a new heading: the focus goes there, so that keys and screen readers start where the page does. */
export function useStepFocus(screen: string): RefObject<HTMLDivElement | null> {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    container.current?.querySelector<HTMLElement>('[data-step-heading]')?.focus()
  }, [screen])
  return container
}
