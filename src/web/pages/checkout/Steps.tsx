import { Stepper } from '../../ui/Stepper.tsx'

const STEPS = [
  { id: 'details', label: 'Details' },
  { id: 'review', label: 'Review' },
  { id: 'wallet', label: 'Wallet' },
  { id: 'done', label: 'Done' },
] as const

export function Steps({ current }: { current: (typeof STEPS)[number]['id'] }) {
  return (
    <div className="no-print mb-5">
      <Stepper current={current} label="Payment" steps={STEPS} />
    </div>
  )
}
