import type { PaymentState } from '../../payment/machine.ts'
import { Timeline, type TimelineEntry } from '../../ui/Timeline.tsx'

/** The way of a signed payment, with what is reached and what is still ahead. */
export function Confirmations({ state }: { state: Extract<PaymentState, { sent: unknown }> }) {
  if (state.step === 'failed') return null
  const reached = { signed: 0, broadcast: 1, unknown: 1, submitted: 2, rolled_back: 1, confirmed: 3, finalized: 4 }[state.step]
  const landed = 'landed' in state ? state.landed : null
  const count = landed && reached < 4 ? `${landed.confirmations} of ${landed.requiredConfirmations} confirmations` : undefined
  const steps: { id: string; title: string; detail?: string }[] = [
    { id: 'signed', title: `Signed in ${state.order.walletName}` },
    { id: 'sent', title: 'Sent to the network' },
    {
      id: 'seen',
      title: landed ? 'In a block' : 'Seen by the network',
      detail: landed ? `${state.order.network.startsWith('eip155:') ? 'Block' : 'Slot'} ${landed.height.toLocaleString()}` : undefined,
    },
    { id: 'confirmed', title: 'Confirmed', detail: count },
    { id: 'final', title: 'Final' },
  ]
  const entries = steps.map(({ id, title, detail }, index): TimelineEntry => {
    const ahead = index > reached
    return { id, title, detail, ahead, tone: 'good', icon: ahead ? undefined : 'check' }
  })
  return (
    <div className="mx-auto mt-6 max-w-80">
      <Timeline entries={entries} label="Progress" />
    </div>
  )
}
