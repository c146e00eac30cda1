import { Trans } from '@lingui/react/macro'
import { lazy, Suspense, useEffect } from 'react'
import { canRebuild, isPaid, mayHaveLeft } from '../../../payment-flow/machine.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { RunSteps } from '../../../payment-flow/steps/RunSteps.tsx'
import { StepHeading, useStepFocus } from '../../../payment-flow/steps/Steps.tsx'
import type { WalletPaymentIntent } from '../../../payment-intent/intent.ts'
import { PageSkeleton } from '../../../shell/PageSkeleton.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Spinner } from '../../../ui/Spinner.tsx'
import { Time } from '../../../ui/Time.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'
import { announce } from '../../../ui/announce.tsx'
import { cx } from '../../../ui/button-class.ts'
import { ResponseCard } from '../request/ResponseCard.tsx'
import { ResultTitle } from '../request/ResultTitle.tsx'
import { SilentServer } from '../request/SilentServer.tsx'
import { CopyCurl, DirectButton, UnansweredCard } from '../request/UnansweredCard.tsx'
import type { PaymentOption } from '../request/challenge.ts'
import { PaidCard } from './PaidCard.tsx'
import { RefusedCard } from './RefusedCard.tsx'
import { isServed, type Purchase } from './purchase.ts'
import { usePurchase, type PurchaseView } from './use-purchase.ts'
import { progressOf, titleOfDelivery } from './words.ts'

// Few payments need it.
const AllowanceStep = lazy(() =>
  import('./AllowanceStep.tsx').then((module) => ({ default: module.AllowanceStep })),
)

export type PurchaseFlowProps = {
  first: Purchase
  run: PaymentRun
  /** Back to the terms; nothing was sent. */
  onLeave: () => void
  /** The same offer from another account. */
  onOther: (order: WalletPaymentIntent) => void
  /** A new payment by terms the server named later. */
  onPayAnew: (paymentOption: PaymentOption) => void
  /** The server has given what was paid for. */
  onServed: () => void
}

/** One paid request: review, wallet, chain, proof, answer. The payment is the machine's; what it buys is the purchase's. */
export function PurchaseFlow({
  first,
  run,
  onLeave,
  onOther,
  onPayAnew,
  onServed,
}: PurchaseFlowProps) {
  const view = usePurchase(first, run)
  const served = isServed(view.purchase)
  useEffect(() => {
    if (served) onServed()
  }, [served, onServed])
  const { state } = view
  const screen =
    mayHaveLeft(state) || state.step === 'signed'
      ? view.proof
        ? 'proof'
        : deliveryScreen(view)
      : state.step === 'rejected'
        ? 'review'
        : state.step
  const container = useStepFocus(screen)
  const allowing = view.purchase.way === 'permit' && state.step === 'draft' && !state.userError
  return (
    <div className="space-y-4" ref={container}>
      {allowing ? (
        <Suspense fallback={<PageSkeleton />}>
          <AllowanceStep
            onLeave={() => void run.cancel().then(onLeave)}
            payment={run}
            purchase={view.purchase}
          />
        </Suspense>
      ) : (
        <RunSteps onLeave={onLeave} onOther={onOther} run={run} state={state}>
          <Bought onLeave={onLeave} onPayAnew={onPayAnew} view={view} />
        </RunSteps>
      )}
    </div>
  )
}

/** What is new of a delivery has the focus. What the page asks again by itself is not new. */
function deliveryScreen({ purchase, delivered, sending, waits }: PurchaseView): string {
  if (!purchase.header) return 'paid'
  if (sending && !waits) return 'sending'
  return delivered?.delivery.outcome ?? 'saved'
}

/** What was signed, what it bought, and where the money is. */
function Bought({
  view,
  onLeave,
  onPayAnew,
}: { view: PurchaseView } & Pick<PurchaseFlowProps, 'onLeave' | 'onPayAnew'>) {
  const { state, purchase } = view
  const progress = 'sent' in state ? progressOf(state, purchase).title : null
  const delivery = titleOfDelivery(view)
  useEffect(() => {
    if (progress) announce(progress)
  }, [progress])
  // Where both change at once, the delivery has the last word.
  useEffect(() => {
    if (delivery) announce(delivery)
  }, [delivery])
  return (
    <>
      {/* The receipt of what was paid is one sheet. What was bought can be saved. */}
      <div className={cx('space-y-4 empty:hidden', isPaid(state) && 'no-print')}>
        {view.proof && <ProofCard view={view} />}
        <DeliveryCard onPayAnew={onPayAnew} title={delivery} view={view} />
        <ClosedByHand view={view} />
      </div>
      <PaidCard view={view} />
      {canRebuild(view.state) &&
        !isServed(view.purchase) &&
        view.delivered?.delivery.outcome !== 'refused' && (
          <Button icon={<Icon name="refresh" />} onClick={onLeave} variant="primary">
            <Trans>Request the price again</Trans>
          </Button>
        )}
    </>
  )
}

/** What the server gave for the payment. */
function DeliveryCard({
  view,
  title,
  onPayAnew,
}: {
  view: PurchaseView
  title: string | null
  onPayAnew: (paymentOption: PaymentOption) => void
}) {
  const { purchase, delivered, sending, waits, send, stop } = view
  const { userError } = view
  if (!purchase.header) return null
  const { url } = purchase.request
  const stopButton = (
    <Button onClick={stop} size="sm">
      <Trans>Stop</Trans>
    </Button>
  )
  if (sending && !waits) {
    return (
      <Card>
        <div className="flex items-center gap-3">
          <p
            className="flex min-w-0 flex-1 items-center gap-3 text-sm outline-none"
            data-step-heading
            tabIndex={-1}
          >
            <span className="text-accent">
              <Spinner />
            </span>
            <Trans>Sending the payment.</Trans>
          </p>
          {stopButton}
        </div>
        <SilentServer url={url} />
      </Card>
    )
  }
  if (!delivered) return <SavedPayment view={view} />
  const { result, delivery } = delivered
  const storage = userError && (
    <Banner className="mb-4" role="alert" tone="warn">
      {userError}
    </Banner>
  )
  if (result.kind === 'unanswered')
    return (
      <UnansweredCard
        onRetry={() => send()}
        onRoute={send}
        payment={purchase.header}
        request={purchase.request}
        unanswered={result}
      />
    )
  switch (delivery.outcome) {
    case 'refused':
      return <RefusedCard answer={result.answer} onPayAnew={onPayAnew} view={view} />
    case 'pending':
      return (
        <ResponseCard answer={result.answer} url={url} title={title}>
          {waits ? (
            <div className="mb-4">
              <p className="text-sm text-muted">
                <Trans>Trying again automatically.</Trans>
              </p>
              {sending && <SilentServer url={url}>{stopButton}</SilentServer>}
            </div>
          ) : (
            <UndeliveredBanner view={view} />
          )}
        </ResponseCard>
      )
    case 'served':
      return (
        <ResponseCard answer={result.answer} url={url} title={title}>
          {storage}
        </ResponseCard>
      )
    default:
      return (
        <ResponseCard answer={result.answer} url={url} title={title}>
          {storage}
          <UndeliveredBanner view={view} />
        </ResponseCard>
      )
  }
}

/** Who has what they paid for by another way, or has the money back, ends the reminders. One button in one place, so that it keeps the focus. */
function ClosedByHand({ view }: { view: PurchaseView }) {
  const { purchase, state, sending, signing, waits, setClosed } = view
  const { closedAt, deliveries } = purchase
  const reminded = isPaid(state) || deliveries.length > 0
  if (!reminded || isServed(purchase) || sending || signing || waits) return null
  const closed = closedAt !== undefined
  return (
    <div className="flex flex-wrap items-center justify-end gap-x-3 gap-y-2 text-sm">
      {closed && (
        <p>
          <Trans>
            Marked as delivered or refunded, <Time at={closedAt} />.
          </Trans>
        </p>
      )}
      <Button
        icon={<Icon name={closed ? 'back' : 'check'} />}
        onClick={() => setClosed(!closed)}
        size="sm"
        variant="quiet"
      >
        {closed ? <Trans>Undo</Trans> : <Trans>I received it or got a refund</Trans>}
      </Button>
    </div>
  )
}

/** What a reader can do who paid and got something else. */
function UndeliveredBanner({ view: { purchase, sending, send } }: { view: PurchaseView }) {
  return (
    <Banner
      action={
        <span className="flex flex-wrap gap-2">
          <Button
            busy={sending}
            icon={<Icon name="refresh" />}
            onClick={() => send()}
            size="sm"
            variant="primary"
          >
            <Trans>Try again with the same payment</Trans>
          </Button>
          {purchase.request.via === 'relay' && (
            <DirectButton busy={sending} onClick={() => send('direct')} size="sm" />
          )}
          {purchase.header && <CopyCurl payment={purchase.header} request={purchase.request} />}
        </span>
      }
      className="mb-4"
      role="alert"
      tone="warn"
    >
      <Trans>You are not charged again.</Trans>
    </Banner>
  )
}

/** After a reload: the header is there, its answer is not. */
function SavedPayment({ view }: { view: PurchaseView }) {
  const { purchase, send, sending, userError } = view
  const last = purchase.deliveries.at(-1)
  const status = last?.status
  return (
    <Card
      title={
        <ResultTitle>
          {isServed(purchase) ? <Trans>Delivered</Trans> : <Trans>Payment saved</Trans>}
        </ResultTitle>
      }
    >
      <p className="text-sm text-muted">
        {isServed(purchase) ? (
          <Trans>You are not charged again.</Trans>
        ) : status ? (
          <>
            <Trans>The server answered {status}.</Trans> <Trans>You are not charged again.</Trans>
          </>
        ) : (
          <Trans>You are not charged again.</Trans>
        )}
      </p>
      {userError && (
        <Banner className="mt-4" role="alert" tone="warn">
          {userError}
        </Banner>
      )}
      <div className="mt-4 flex flex-wrap items-center gap-2">
        <Button
          busy={sending}
          icon={<Icon name="refresh" />}
          onClick={() => send()}
          variant="primary"
        >
          <Trans>Try again with the same payment</Trans>
        </Button>
        {purchase.request.via === 'relay' && (
          <DirectButton busy={sending} onClick={() => send('direct')} />
        )}
        {purchase.header && !isServed(purchase) && (
          <CopyCurl payment={purchase.header} request={purchase.request} />
        )}
      </div>
    </Card>
  )
}

/** The free signature that ties a transfer that landed to what it pays for. */
function ProofCard({ view }: { view: PurchaseView }) {
  const { state, purchase, signing, userError, sign } = view
  const { walletName } = state.order
  return (
    <Card>
      <p className="text-sm text-muted">
        <Trans>Step 2 of 2</Trans>
      </p>
      <StepHeading>
        <Trans>Sign the proof</Trans>
      </StepHeading>
      <p className="mt-1 text-sm text-muted">
        {signing ? (
          <Trans>Approve in {walletName}</Trans>
        ) : (
          <Trans>Free proof of your payment.</Trans>
        )}
      </p>
      <Facts className="mt-4 rounded-lg bg-sunken px-4 py-3">
        <Fact name={<Trans>Pays for</Trans>} long>
          <UntrustedText className="font-mono text-[13px] break-all" text={purchase.resource.url} />
        </Fact>
        {purchase.resource.description && (
          <Fact name={<Trans>Description</Trans>} long>
            <UntrustedText text={purchase.resource.description} />
          </Fact>
        )}
      </Facts>
      {userError && (
        <Banner className="mt-4" role="alert" tone="warn">
          {userError}
        </Banner>
      )}
      <Button
        busy={signing}
        className="mt-5 max-sm:w-full"
        icon={<Icon name="wallet" />}
        onClick={sign}
        variant="primary"
      >
        <Trans>Sign with {walletName}</Trans>
      </Button>
    </Card>
  )
}
