import { t as words } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useId, useState } from 'react'
import { explorerLink, nativeAsset } from '#contract/network.ts'
import { returnAddress } from '#contract/payment-link.ts'
import { useConfig, useNetwork } from '../../api/use-config.ts'
import { formatNumber, formatPrice } from '../../locales/formats.ts'
import { formatQuantity } from '../../payment-flow/format-quantity.ts'
import { ItemSummary, RateFact } from '../../payment-flow/ItemSummary.tsx'
import { LazyEvidenceCard } from '../../payment-flow/LazyEvidenceCard.tsx'
import { LazyRefundRequestCard } from '../../payment-flow/form/LazyRefundRequestCard.tsx'
import {
  canRebuild,
  canRepeatRequest,
  isPaid,
  standingOf,
  type PaymentState,
} from '../../payment-flow/machine.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { RepeatRequest } from '../../payment-flow/steps/RunSteps.tsx'
import { StepHeading } from '../../payment-flow/steps/Steps.tsx'
import {
  isWaiting,
  progressOf,
  unconfirmedProgress,
  unreadProgress,
} from '../../payment-flow/steps/words.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { useInDashboard } from '../../shell/Shell.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Badge, toneClass } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Mark } from '../../ui/Mark.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { Time } from '../../ui/Time.tsx'
import { Timeline, type TimelineEntry } from '../../ui/Timeline.tsx'
import { UntrustedLink, UntrustedText } from '../../ui/UntrustedText.tsx'
import { announce } from '../../ui/announce.tsx'
import { buttonClass, cx } from '../../ui/button-class.ts'
import { postToOpener } from './post-to-opener.ts'
import { ReceiptButtons } from '../../payment-flow/steps/ReceiptButtons.tsx'
import { SilentEndpoint } from './SilentEndpoint.tsx'
import { useOpenEvidence } from './use-open-evidence.ts'
import { useSurplus } from './use-surplus.ts'

export type ProgressStepProps = {
  run: PaymentRun
  state: Extract<PaymentState, { sent: unknown }>
  onStartOver: (from: { again: WalletPaymentIntent } | { after: WalletPaymentIntent }) => void
}

/** Step 4: from the first broadcast to the receipt, told by what the user's own RPC shows. */
export function ProgressStep({ run, state, onStartOver }: ProgressStepProps) {
  const { order } = state
  const { t } = useLingui()
  const network = useNetwork(order.network)
  const { title: merchant, sellerWallets } = useConfig()
  const inDashboard = useInDashboard()
  const evidence = useOpenEvidence(state)
  const paid = isPaid(state) && evidence.kind === 'none'
  const unread = isPaid(state) && evidence.kind === 'unknown' ? evidence : undefined
  const surplus = useSurplus(state)
  const [asking, setAsking] = useState(false)
  const progress =
    evidence.kind === 'gap' && !isWaiting(state)
      ? unconfirmedProgress()
      : unread
        ? unreadProgress()
        : progressOf(state)
  const { tone, icon, working } = progress
  const title = paid ? t`Payment complete` : progress.title
  const status = state.step === 'finalized' ? t`Finalized` : t`Confirmed`
  useEffect(() => announce(title), [title])
  const { decimals, symbol } = order.asset
  const quantity = formatQuantity(order.quantity)
  const seller = sellerWallets.includes(order.recipient) ? merchant : undefined

  return (
    <Card>
      {inDashboard && (
        <p className="mb-6 hidden items-center gap-2.5 font-semibold print:flex">
          <Mark />
          {merchant}
        </p>
      )}
      <div className="text-center">
        <span
          className={cx(
            'inline-flex size-12 items-center justify-center rounded-full',
            toneClass[tone],
          )}
        >
          {working && !paid ? <Spinner /> : <Icon name={icon} size={20} />}
        </span>
        <StepHeading large>{title}</StepHeading>
        {!paid && <p className="mx-auto mt-1 max-w-120 text-sm text-muted">{progress.body}</p>}
        <div className="mt-3">
          {state.step === 'failed' && (
            <p className="text-sm text-muted">
              <Trans>Requested</Trans>
            </p>
          )}
          <Amount atomic={order.amountAtomic} decimals={decimals} exact size="xl" symbol={symbol} />
        </div>
        {order.quote && (
          <p className="figures text-muted">
            {formatPrice(order.quote.amount, order.quote.currency)}
          </p>
        )}
        {seller && (
          <p className="mt-1 text-sm text-muted">
            <Trans>to {seller}</Trans>
          </p>
        )}
        {canRepeatRequest(state) && <RepeatRequest run={run} walletName={order.walletName} />}
      </div>

      {surplus && (
        <Banner
          className="mt-4"
          role="alert"
          title={t`Payment received, but not needed`}
          tone="warn"
        >
          <Trans>Request a refund.</Trans>
        </Banner>
      )}
      {evidence.kind === 'gap' && (
        <LazyEvidenceCard asset={order.asset} evidence={evidence.evidence} heading="h3" />
      )}
      {unread?.error && <QueryError error={unread.error} onRetry={unread.retry} />}

      {!paid && (
        <div className="print:hidden">
          <Confirmations state={state} />
        </div>
      )}

      {order.item && <ItemSummary className="mt-6 border-t border-line pt-4" item={order.item} />}
      <Facts className="mt-6 border-t border-line pt-4">
        {order.description && !order.item && (
          <Fact name={t`Item`}>
            <UntrustedText text={order.description} />
          </Fact>
        )}
        {quantity && <Fact name={t`Quantity`}>{quantity}</Fact>}
        {order.reference && (
          <Fact name={t`Reference`}>
            <UntrustedText text={order.reference} />
          </Fact>
        )}
        <Fact name={t`Network`}>
          {network?.name ?? order.network}
          {network?.testnet && (
            <>
              {' '}
              <Badge tone="warn">{t`Test network`}</Badge>
            </>
          )}
        </Fact>
        <Fact name={t`Date`}>
          <Time at={order.createdAt} look="full" />
        </Fact>
        {isPaid(state) && (
          <Fact name={t`Status`}>
            <span data-settlement={state.step}>{status}</span>
          </Fact>
        )}
      </Facts>

      <Actions asking={asking} onStartOver={onStartOver} paid={paid} run={run} state={state} />

      <ReceiptDetails paid={paid} state={state} />
      {paid && (
        <LazyRefundRequestCard heading="h3" onForm={setAsking} paymentId={state.built.paymentId} />
      )}
    </Card>
  )
}

/** Addresses, fee and identifiers; folded on the screen and always in print. */
function ReceiptDetails({ state, paid }: Pick<ProgressStepProps, 'state'> & { paid: boolean }) {
  const { order, built, sent } = state
  const { t } = useLingui()
  const network = useNetwork(order.network)
  const native = network ? nativeAsset(network) : order.asset
  const landed = standingOf(state)
  const [open, setOpen] = useState(false)
  const id = useId()
  return (
    <>
      <button
        aria-controls={id}
        aria-expanded={open}
        className="touch-target mt-5 inline-flex items-center gap-1.5 rounded-md text-sm font-medium text-muted hover:text-ink"
        onClick={() => setOpen(!open)}
        type="button"
      >
        <Icon
          className={cx('transition-transform', open && 'rotate-90')}
          name="chevronRight"
          size={14}
        />
        <Trans>Details</Trans>
      </button>
      <div className={cx(!open && 'hidden', 'print:block')} id={id}>
        <Facts className="mt-4 border-t border-line pt-4">
          <Fact name={t`To`} long>
            <Address
              copy
              full
              href={network && explorerLink(network, 'address', order.recipient)}
              value={order.recipient}
            />
          </Fact>
          <Fact name={t`From`} long>
            <Address
              copy
              full
              href={network && explorerLink(network, 'address', order.sender)}
              value={order.sender}
            />
          </Fact>
          {landed && (
            <Fact name={t`Network fee`}>
              <Amount
                atomic={landed.feeAtomic}
                decimals={native.decimals}
                exact
                symbol={native.symbol}
              />
            </Fact>
          )}
          {landed && (
            <Fact name={order.network.startsWith('eip155:') ? t`Block` : t`Slot`}>
              {formatNumber(landed.height)}
            </Fact>
          )}
          {sent.signature && (
            <Fact name={t`Transaction`} long>
              <Address
                copy
                full
                href={network && explorerLink(network, 'tx', sent.signature)}
                noun="transaction"
                value={sent.signature}
              />
            </Fact>
          )}
          {order.quote && <RateFact blockTime={landed?.blockTime} quote={order.quote} />}
          {order.resource && (
            <Fact name={t`Resource`} long>
              <UntrustedLink href={order.resource} />
            </Fact>
          )}
          <Fact name={t`Payment ID`} long>
            <Address copy full noun="payment id" value={built.paymentId} />
          </Fact>
        </Facts>
        {paid && (
          <div className="print:hidden">
            <Confirmations state={state} />
          </div>
        )}
      </div>
    </>
  )
}

/** The one filled button is the way on: back to the seller where the link names one, otherwise to the payment's own page. A form below has its own. */
function Actions({
  run,
  state,
  onStartOver,
  paid,
  asking,
}: ProgressStepProps & {
  asking: boolean
  /** And known to be tied to its order: where the shop does not know the payment yet, the way on is to confirm it. */
  paid: boolean
}) {
  const { order, built } = state
  const shop = order.link?.returnUrl
    ? returnAddress(order.link.returnUrl, built.paymentId)
    : undefined
  const back = paid ? shop : undefined
  const host = back?.host ?? ''
  const returnTo = back?.href ?? ''
  const link = order.link?.text ?? ''
  const { paymentId } = built
  useEffect(() => {
    if (returnTo !== '') postToOpener({ type: 'paydesk:paid', link, paymentId, returnTo })
  }, [link, paymentId, returnTo])
  const notifyOpener = () =>
    postToOpener({ type: 'paydesk:back', link, paymentId, returnTo: shop?.href ?? '' })
  // To a customer with a link it is the least of all, to everyone else the way on.
  const showPayment = (
    <Link
      className={cx(
        buttonClass({
          variant: !paid || asking ? 'secondary' : order.link ? 'quiet' : 'primary',
          size: paid && !order.link ? 'lg' : 'md',
        }),
        'col-span-2',
      )}
      to={pathTo('payment', { params: { paymentId: built.paymentId } })}
    >
      <Trans>Show the payment</Trans>
    </Link>
  )
  return (
    <>
      {state.unavailable && !isPaid(state) && (
        <SilentEndpoint back={shop} onBack={notifyOpener} state={state} />
      )}
      <div className="no-print mt-5 grid grid-cols-2 gap-2 *:only:col-span-2">
        {canRebuild(state) && (
          <Button
            className="col-span-2"
            icon={<Icon name="refresh" />}
            onClick={() => void run.rebuild()}
            size="lg"
            variant="primary"
          >
            <Trans>Prepare it again</Trans>
          </Button>
        )}
        {back && (
          <a
            className={cx(
              buttonClass({ variant: asking ? 'secondary' : 'primary', size: 'lg', wide: true }),
              'col-span-2',
            )}
            href={back.href}
            onClick={notifyOpener}
            rel="noopener noreferrer"
          >
            <Trans>Back to {host}</Trans>
          </a>
        )}
        {!(paid && order.link) && showPayment}
        {paid && <ReceiptButtons primary={Boolean(order.link) && !back && !asking} state={state} />}
        {paid && !asking && !order.link && order.refundOf === undefined && (
          <Button onClick={() => onStartOver({ again: order })}>
            <Trans>Pay again</Trans>
          </Button>
        )}
        {((paid && !asking) || state.step === 'failed') &&
          !order.link &&
          order.refundOf === undefined && (
            <Button onClick={() => onStartOver({ after: order })}>
              <Trans>New payment</Trans>
            </Button>
          )}
        {paid && order.link && showPayment}
      </div>
    </>
  )
}

/** The way of a signed payment, with what is reached and what is still ahead. */
function Confirmations({ state }: { state: Extract<PaymentState, { sent: unknown }> }) {
  const { t } = useLingui()
  if (state.step === 'failed') return null
  const { walletName } = state.order
  const reached = {
    signed: 0,
    broadcast: 1,
    // Without the wallet's answer not even the signature is certain.
    unknown: state.sent.signature === null ? -1 : 0,
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
    { id: 'final', title: t`Finalized` },
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
