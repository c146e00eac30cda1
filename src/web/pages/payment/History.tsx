import { familyOf, type Network } from '#contract/network.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { statusWords } from '../../ui/status-words.ts'
import { Time } from '../../ui/Time.tsx'
import { Timeline, type TimelineEntry } from '../../ui/Timeline.tsx'

const titles: Readonly<Record<PaymentStatus, string>> = {
  created: 'Built, ready to sign',
  pending: 'Sent to the network',
  confirmed: 'Confirmed',
  finalized: 'Final',
  expired: 'Ran out of time',
  failed: 'Failed',
  rolled_back: 'Rolled back',
}

const sources: Readonly<Record<EventSource, string>> = {
  service: 'noted by the service',
  client: "reported by the payer's browser",
  watcher: 'read from the chain by the service',
  facilitator: 'told by the facilitator',
}

/** What a payment on its way still has ahead, when all goes well. */
const ahead: Readonly<Partial<Record<PaymentStatus, readonly PaymentStatus[]>>> = {
  created: ['pending', 'confirmed', 'finalized'],
  pending: ['confirmed', 'finalized'],
  confirmed: ['finalized'],
}

/** Every step with who saw it and when; what is still to come is drawn hollow. */
export function History({ payment, network }: { payment: PaymentStatusBody; network: Network | undefined }) {
  const heightWord = network && familyOf(network.network) === 'solana' ? 'slot' : 'block'
  const seen: TimelineEntry[] = payment.events.map(({ status, at, blockHeight, source }, index) => ({
    id: `${index} ${status}`,
    title: titles[status],
    detail: (
      <>
        {sources[source].charAt(0).toUpperCase() + sources[source].slice(1)}
        {blockHeight !== null && (
          <span className="figures">
            , {heightWord} {blockHeight.toLocaleString()}
          </span>
        )}
      </>
    ),
    aside: <Time at={at} look="seconds" />,
    icon: statusWords[status].icon,
    tone: statusWords[status].tone,
  }))
  const coming: TimelineEntry[] = (ahead[payment.status] ?? []).map((status) => ({
    id: `ahead ${status}`,
    title: titles[status],
    icon: statusWords[status].icon,
    ahead: true,
  }))
  return <Timeline entries={[...seen, ...coming]} label="What happened, oldest first" />
}
