import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef } from 'react'
import { type NetworkId, familyOf, type Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import type { Session } from '#contract/dashboard-endpoints.ts'
import { directionFor } from '../../api/merge-payment.ts'
import { useSession } from '../../api/session.ts'
import { useNetwork } from '../../api/use-config.ts'
import { joinMessage } from '../../errors/row.ts'
import { formatNumber } from '../../locales/formats.ts'
import { LazyEvidenceCard } from '../../payment-flow/LazyEvidenceCard.tsx'
import { LazyRefundRequestCard } from '../../payment-flow/form/LazyRefundRequestCard.tsx'
import { openEvidence } from '../../payment-intent/evidence.ts'
import { orderLine } from '../../payment-view/describe-row.ts'
import { DirectionLine } from '../../payment-view/DirectionLine.tsx'
import { PageHeading } from '../../shell/PageHeading.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { Timeline, type TimelineEntry } from '../../ui/Timeline.tsx'
import { announce } from '../../ui/announce.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import { shownStatus, statusWords } from '../../ui/status-words.ts'
import { MetadataCard } from './MetadataCard.tsx'
import { NoteCard } from './NoteCard.tsx'
import { OnChainCard } from './OnChainCard.tsx'
import { PaymentFacts } from './PaymentFacts.tsx'
import { PaymentWorth } from './PaymentWorth.tsx'
import { RefundButton } from './RefundButton.tsx'
import { ReceiptCard } from './ReceiptCard.tsx'
import { ReturnCard } from './ReturnCard.tsx'
import { StateBanner } from './StateBanner.tsx'
import { stateWords, titleWords } from './state-words.ts'

export function PaymentDetail({ payment }: { payment: PaymentStatusBody }) {
  const network = useNetwork(payment.network)
  const { status } = payment
  // That it is a draft is said elsewhere.
  const shown = shownStatus({ ...payment, draft: false })
  const title = titleWords(
    `${formatAmountText(BigInt(payment.amountAtomic), payment.decimals, { exact: true }).text} ${payment.symbol}`,
    shown,
  )
  const before = useRef(status)
  const refundHeading = useRef<HTMLSpanElement>(null)

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
        <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
          <PageHeading className="min-w-0">
            <span className="sr-only">{title}</span>
            <span aria-hidden className="flex flex-wrap items-center gap-x-4 gap-y-2">
              <Amount
                atomic={payment.amountAtomic}
                decimals={payment.decimals}
                exact
                size="xl"
                symbol={payment.symbol}
              />
              <StatusPill status={shown} />
            </span>
          </PageHeading>
          <RefundButton heading={refundHeading} payment={payment} />
        </div>
        <Subject payment={payment} />
        <PaymentWorth payment={payment} />
        <p className="mt-2 text-muted">
          {bannered ? <Time at={payment.timestamp} look="full" /> : stateWords(payment)}
        </p>
        <StateBanner network={network} payment={payment} />
        {network && <EvidenceBanner networkId={network.network} payment={payment} />}
      </header>

      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_340px]">
        <div className="grid min-w-0 content-start gap-4">
          {Object.keys(details).length > 0 && (
            <MetadataCard
              metadata={details}
              paymentId={payment.paymentId}
              refund={refundOf !== null}
            />
          )}
          <PaymentFacts network={network} payment={payment} />
          {network && <OnChainCard network={network} payment={payment} />}
        </div>
        <div className="grid min-w-0 content-start gap-4">
          <Card title={<Trans>What happened</Trans>}>
            <Confirmations payment={payment} />
            <History network={network} payment={payment} />
          </Card>
          <ReturnCard heading={refundHeading} payment={payment} />
          <PayerCard payment={payment} />
          <NoteCard paymentId={payment.paymentId} />
          {network && <ReceiptCard network={network} payment={payment} />}
        </div>
      </div>
    </>
  )
}

/**
 * Which way it goes, and what it is for. A buyer who is not signed in knows which way they paid. What it is for may be
 * the payer's words, so it is quoted, and left out where nobody has proven to be the payer.
 */
function Subject({ payment }: { payment: PaymentStatusBody }) {
  const state = useSession()
  const viewer = state.kind === 'known' ? state.viewer : null
  const order = payment.draft ? null : orderLine(payment)
  if (!viewer && order === null) return null
  return (
    <p className="mt-2 [overflow-wrap:anywhere]">
      {viewer && <DirectionLine payment={{ ...payment, type: directionFor(payment, viewer) }} />}
      {viewer && order !== null && ' · '}
      {order !== null && (
        <>
          <Trans>For</Trans>{' '}
          <q>
            <UntrustedText text={order} />
          </q>
        </>
      )}
    </p>
  )
}

/** For the payer: a request for a refund, and what became of it. */
function PayerCard({ payment }: { payment: PaymentStatusBody }) {
  const state = useSession()
  if (state.kind !== 'known' || isPayeeSide(state.session, payment)) return null
  return <LazyRefundRequestCard heading="h2" paymentId={payment.paymentId} />
}

/** Whether the reader is on the side that was paid, and not the payer too. */
function isPayeeSide(
  session: Session | null,
  { sender, recipient }: Pick<PaymentStatusBody, 'sender' | 'recipient'>,
): boolean {
  return (
    session !== null &&
    !session.wallets.includes(sender) &&
    (session.role !== null || session.wallets.includes(recipient))
  )
}

/** A transfer that fits this order came, and nothing ties it to its payer: the payer can sign for it, the payee can ask them to. */
function EvidenceBanner({
  payment,
  networkId,
}: {
  payment: PaymentStatusBody
  networkId: NetworkId
}) {
  const { t } = useLingui()
  const state = useSession()
  const evidence = openEvidence(payment, networkId)
  if (!evidence || state.kind !== 'known') return null
  if (!isPayeeSide(state.session, payment))
    return <LazyEvidenceCard asset={payment} evidence={evidence} heading="h2" />
  return (
    <Banner
      action={<CopyButton label={t`Copy link`} text value={location.href} />}
      className="mt-4"
      icon="question"
      role="note"
      title={<Trans>Payment received, payer unknown</Trans>}
      tone="warn"
    >
      <Trans>Do not deliver. Send the payer this link.</Trans>
    </Banner>
  )
}

/** How far the network is with a payment that has landed; nothing for one that has not or no longer counts. */
function Confirmations({
  payment: { status, confirmations, requiredConfirmations },
}: {
  payment: PaymentStatusBody
}) {
  const { t } = useLingui()
  if (status !== 'pending' && status !== 'confirmed' && status !== 'finalized') return null
  const shown = Math.min(confirmations, requiredConfirmations)
  const [counted, needed] = [formatNumber(confirmations), formatNumber(requiredConfirmations)]
  const words =
    confirmations > requiredConfirmations
      ? t`${counted} (${needed} needed)`
      : t`${{ shown: counted }} of ${{ total: needed }}`
  return (
    <div className="mb-6">
      <div className="flex items-baseline justify-between text-sm">
        <span className="text-muted">
          <span id="confirmations">
            <Trans>Confirmations</Trans>
          </span>
        </span>
        <span className="figures font-medium">{words}</span>
      </div>
      <div
        aria-labelledby="confirmations"
        aria-valuemax={requiredConfirmations}
        aria-valuemin={0}
        aria-valuenow={shown}
        aria-valuetext={words}
        className="forced-edge mt-2 h-1.5 overflow-hidden rounded-full bg-neutral-soft"
        role="progressbar"
      >
        <div
          className="forced-fill h-full rounded-full bg-accent transition-[width]"
          style={{
            width: `${requiredConfirmations > 0 ? (shown / requiredConfirmations) * 100 : 100}%`,
          }}
        />
      </div>
    </div>
  )
}

const titles: Readonly<Record<PaymentStatus, MessageDescriptor>> = {
  created: msg`Ready to sign`,
  pending: msg`Sent to the network`,
  confirmed: msg`Confirmed`,
  finalized: msg`Finalized`,
  expired: msg`Expired`,
  failed: msg`Failed`,
  rolled_back: msg`Rolled back`,
}

const sources: Readonly<Record<EventSource, MessageDescriptor>> = {
  service: msg`Created`,
  client: msg`Payer’s browser`,
  watcher: msg`Chain`,
  facilitator: msg`Facilitator`,
}

/** What a payment on its way still has ahead, when all goes well. */
const ahead: Readonly<Partial<Record<PaymentStatus, readonly PaymentStatus[]>>> = {
  created: ['pending', 'confirmed', 'finalized'],
  pending: ['confirmed', 'finalized'],
  confirmed: ['finalized'],
}

/** Every step with who saw it and when; what is still to come is drawn hollow. */
function History({
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
      // What it waited for has come.
      tone:
        index < payment.events.length - 1 && status === 'pending'
          ? 'neutral'
          : statusWords[status].tone,
    }),
  )
  const coming: TimelineEntry[] = (ahead[payment.status] ?? []).map((status) => ({
    id: `ahead ${status}`,
    title: t(titles[status]),
    icon: statusWords[status].icon,
    ahead: true,
  }))
  return <Timeline entries={[...seen, ...coming]} label={t`What happened`} />
}

function Height({ height, solana }: { height: number; solana: boolean }) {
  const text = formatNumber(height)
  return (
    <span className="figures">
      , {solana ? <Trans>slot {{ slot: text }}</Trans> : <Trans>block {{ height: text }}</Trans>}
    </span>
  )
}
