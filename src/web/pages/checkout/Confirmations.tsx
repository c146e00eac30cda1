import { t as words } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { formatNumber } from '../../locales/formats.ts'
import { standingOf, type PaymentState } from '../../payment-flow/machine.ts'
import { Timeline, type TimelineEntry } from '../../ui/Timeline.tsx'

/** The way of a signed payment, with what is reached and what is still ahead. */
export function Confirmations({ state }: { state: Extract<PaymentState, { sent: unknown }> }) {
  const { t } = useLingui()
  if (state.step === 'failed') return null
  const { walletName } = state.order
  const reached = {
    signed: 0,
    broadcast: 1,
    unknown: 1,
    submitted: 2,
    rolled_back: 1,
    confirmed: 3,
    finalized: 4,
  }[state.step]
  const landed = standingOf(state)
  const count =
    landed && reached < 4
      ? confirmationWords(landed.confirmations, landed.requiredConfirmations)
      : undefined
  const steps: { id: string; title: string; detail?: string }[] = [
    { id: 'signed', title: t`Signed in ${walletName}` },
    { id: 'sent', title: t`Sent to the network` },
    {
      id: 'seen',
      title: landed ? t`In a block` : t`Seen by the network`,
      detail: landed ? heightWords(state.order.network, landed.height) : undefined,
    },
    { id: 'confirmed', title: t`Confirmed`, detail: count },
    { id: 'final', title: t`Final` },
  ]
  const entries = steps.map(({ id, title, detail }, index): TimelineEntry => {
    const ahead = index > reached
    return { id, title, detail, ahead, tone: 'good', icon: ahead ? undefined : 'check' }
  })
  return (
    <div className="mx-auto mt-6 max-w-80">
      <Timeline entries={entries} label={t`Progress`} />
    </div>
  )
}

function confirmationWords(count: number, required: number): string {
  const [seen, needed] = [formatNumber(count), formatNumber(required)]
  return words`${seen} of ${needed} confirmations`
}

function heightWords(network: string, height: number): string {
  const figure = formatNumber(height)
  return network.startsWith('eip155:') ? words`Block ${figure}` : words`Slot ${figure}`
}
