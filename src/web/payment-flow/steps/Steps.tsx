import { useLingui } from '@lingui/react/macro'
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
