import { Trans } from '@lingui/react/macro'
import { useEffect, useRef } from 'react'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { PageHeading } from '../../shell/PageHeading.tsx'
import { useNetwork } from '../../api/use-config.ts'
import { announce } from '../../ui/announce.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { Time } from '../../ui/Time.tsx'
import { Confirmations } from './Confirmations.tsx'
import { EvidenceBanner } from './EvidenceBanner.tsx'
import { History } from './History.tsx'
import { MetadataCard } from './MetadataCard.tsx'
import { NoteCard } from './NoteCard.tsx'
import { PaymentFacts } from './PaymentFacts.tsx'
import { ReceiptCard } from './ReceiptCard.tsx'
import { ReturnCard } from './ReturnCard.tsx'
import { StateBanner } from './StateBanner.tsx'
import { joinMessage } from '../../errors/join-message.ts'
import { stateWords, titleWords } from './state-words.ts'
import { OnChainCard } from './OnChainCard.tsx'

export function PaymentDetail({ payment }: { payment: PaymentStatusBody }) {
  const network = useNetwork(payment.network)
  const { status } = payment
  const title = titleWords(
    `${formatAmountText(BigInt(payment.amountAtomic), payment.decimals, { exact: true }).text} ${payment.symbol}`,
    status,
  )
  const before = useRef(status)

  useEffect(() => {
    if (before.current !== status) announce(joinMessage({ title, body: stateWords(payment) }))
    before.current = status
  }, [status, title, payment])

  const { refundOf, refundReason } = payment
  const details = {
    ...payment.metadata,
    ...(refundReason !== null && { description: refundReason }),
    ...(refundOf !== null && { refundOf }),
  }
  // A banner says these itself.
  const bannered = status === 'failed' || status === 'rolled_back'
  return (
    <>
      <header className="mb-8">
        <PageHeading>
          <span className="sr-only">{title}</span>
          <span aria-hidden className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <Amount
              atomic={payment.amountAtomic}
              decimals={payment.decimals}
              exact
              size="xl"
              symbol={payment.symbol}
            />
            <StatusPill status={status} />
          </span>
        </PageHeading>
        <p className="mt-2 text-muted">
          {bannered ? <Time at={payment.timestamp} look="full" /> : stateWords(payment)}
        </p>
        <StateBanner network={network} payment={payment} />
        {network && <EvidenceBanner networkId={network.network} payment={payment} />}
      </header>

      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_340px]">
        <div className="grid min-w-0 content-start gap-4">
          <PaymentFacts network={network} payment={payment} />
          {network && <OnChainCard network={network} payment={payment} />}
          {Object.keys(details).length > 0 && <MetadataCard metadata={details} />}
        </div>
        <div className="grid min-w-0 content-start gap-4">
          <Card title={<Trans>What happened</Trans>}>
            <Confirmations payment={payment} />
            <History network={network} payment={payment} />
          </Card>
          <ReturnCard payment={payment} />
          <NoteCard paymentId={payment.paymentId} />
          {network && <ReceiptCard network={network} payment={payment} />}
        </div>
      </div>
    </>
  )
}
