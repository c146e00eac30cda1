import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { familyOf, type Network } from '#contract/network.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { formatNumber } from '../../locales/formats.ts'
import { statusWords } from '../../ui/status-words.ts'
import { Time } from '../../ui/Time.tsx'
import { Timeline, type TimelineEntry } from '../../ui/Timeline.tsx'

const titles: Readonly<Record<PaymentStatus, MessageDescriptor>> = {
  created: msg`Built, ready to sign`,
  pending: msg`Sent to the network`,
  confirmed: msg`Confirmed`,
  finalized: msg`Final`,
  expired: msg`Ran out of time`,
  failed: msg`Failed`,
  rolled_back: msg`Rolled back`,
}

const sources: Readonly<Record<EventSource, MessageDescriptor>> = {
  service: msg`Noted by the service`,
  client: msg`Reported by the payer’s browser`,
  watcher: msg`Read from the chain by the service`,
  facilitator: msg`Reported by the facilitator`,
}

/** What a payment on its way still has ahead, when all goes well. */
const ahead: Readonly<Partial<Record<PaymentStatus, readonly PaymentStatus[]>>> = {
  created: ['pending', 'confirmed', 'finalized'],
  pending: ['confirmed', 'finalized'],
  confirmed: ['finalized'],
}

/** Every step with who saw it and when; what is still to come is drawn hollow. */
export function History({
  payment,
  network,
}: {
  payment: PaymentStatusBody
  network: Network | undefined
}) {
  const { t } = useLingui()
  const solana = network && familyOf(network.network) === 'solana'
  const seen: TimelineEntry[] = payment.events.map(
    ({ status, at, blockHeight, source }, index) => ({
      id: `${index} ${status}`,
      title: t(titles[status]),
      detail: (
        <>
          {t(sources[source])}
          {blockHeight !== null && <Height height={blockHeight} solana={solana === true} />}
        </>
      ),
      aside: <Time at={at} look="seconds" />,
      icon: statusWords[status].icon,
      tone: statusWords[status].tone,
    }),
  )
  const coming: TimelineEntry[] = (ahead[payment.status] ?? []).map((status) => ({
    id: `ahead ${status}`,
    title: t(titles[status]),
    icon: statusWords[status].icon,
    ahead: true,
  }))
  return <Timeline entries={[...seen, ...coming]} label={t`What happened, oldest first`} />
}

function Height({ height, solana }: { height: number; solana: boolean }) {
  const shown = formatNumber(height)
  return (
    <span className="figures">
      , {solana ? <Trans>slot {shown}</Trans> : <Trans>block {shown}</Trans>}
    </span>
  )
}
