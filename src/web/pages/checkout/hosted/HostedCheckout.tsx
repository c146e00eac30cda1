import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useReducer, useState } from 'react'
import type { HostedWallet } from '#contract/hosted-endpoints.ts'
import type { HostedIntent } from '#contract/hosted-intent.ts'
import { explorerLink, nativeAsset, type Network } from '#contract/network.ts'
import { isPaid, isSettled } from '#contract/payment.ts'
import { paymentQuery } from '../../../api/queries.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { StepHeading, Steps, type StepName } from '../../../payment-flow/steps/Steps.tsx'
import { Link } from '../../../router/Link.tsx'
import { pathTo } from '../../../router/paths.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { Spinner } from '../../../ui/Spinner.tsx'
import { StatusPill } from '../../../ui/StatusPill.tsx'
import { Time } from '../../../ui/Time.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'
import { announce } from '../../../ui/announce.tsx'
import { buttonClass } from '../../../ui/button-class.ts'
import type { ConnectedAccount } from '../../../wallet/state/accounts.ts'
import { HostedForm, type HostedFields, type HostedRefund } from './HostedForm.tsx'
import { HostedReview } from './HostedReview.tsx'
import { type HostedState, isOut, reduceHosted, type UnansweredReason } from './machine.ts'
import { deliver, forgetSend, prepare, signIntent, undelivered, type HostedOrder } from './send.ts'

type HostedOutcomeProps = {
  intent: HostedIntent
  paymentId: string | null
  unknown: boolean
  unanswered: UnansweredReason | null
  onAnother: () => void
}

const LOOK_EVERY_MS = 2_000

/** From the signature on. The service executes the payment; its page shows the on-chain state. */
function HostedOutcome({ intent, paymentId, unknown, unanswered, onAnother }: HostedOutcomeProps) {
  const { t } = useLingui()
  const network = useNetwork(intent.network)
  const native = network && nativeAsset(network)
  const { data } = useQuery({
    ...paymentQuery(paymentId ?? ''),
    enabled: paymentId !== null,
    refetchInterval: ({ state }) =>
      state.data && isSettled(state.data.status) ? false : LOOK_EVERY_MS,
  })
  return (
    <Card>
      <div className="py-4 text-center">
        {paymentId !== null
          ? data && <StatusPill status={data.status} />
          : unanswered === null && (
              <span className="inline-flex text-accent">
                <Spinner />
              </span>
            )}
        <StepHeading large>
          {paymentId !== null
            ? data?.status === 'failed'
              ? t`Payment failed`
              : t`Payment sent`
            : unanswered !== null
              ? t`It may have been sent`
              : unknown
                ? t`Checking whether it was sent`
                : t`Sending`}
        </StepHeading>
        <div className="mt-4">
          <Amount
            atomic={intent.amountAtomic}
            decimals={intent.decimals}
            exact
            size="xl"
            symbol={intent.symbol}
          />
        </div>
        <OutcomeBanners
          failed={data?.status === 'failed'}
          unanswered={unanswered}
          unknown={unknown}
        />
      </div>
      <Facts className="mb-6 border-t border-line pt-4">
        <Fact name={t`To`} long>
          <Address copy full value={intent.to} />
        </Fact>
        <Fact name={t`From the managed wallet`} long>
          <Address
            copy
            full
            href={
              unanswered === null || !network
                ? undefined
                : explorerLink(network, 'address', intent.from)
            }
            value={intent.from}
          />
        </Fact>
        <Fact name={t`Network`}>{network?.name ?? intent.network}</Fact>
        {intent.description && (
          <Fact name={intent.refundOf ? t`Reason` : t`Description`}>
            <UntrustedText text={intent.description} />
          </Fact>
        )}
        {intent.reference && (
          <Fact name={t`Reference`}>
            <UntrustedText text={intent.reference} />
          </Fact>
        )}
        {data?.signature && (
          <Fact name={t`Transaction`} long>
            <Address
              copy
              full
              href={network && explorerLink(network, 'tx', data.signature)}
              noun="transaction"
              value={data.signature}
            />
          </Fact>
        )}
        {data?.fee && native && (
          <Fact name={t`Network fee`}>
            <Amount
              atomic={data.fee.amountAtomic}
              decimals={native.decimals}
              exact
              symbol={native.symbol}
            />
          </Fact>
        )}
        {data && (
          <Fact name={t`Date`}>
            <Time at={data.blockTime ?? data.timestamp} look="full" />
          </Fact>
        )}
      </Facts>
      {unanswered !== null && (
        <div className="flex justify-center">
          <Button icon={<Icon name="refresh" />} onClick={onAnother}>
            <Trans>Start again</Trans>
          </Button>
        </div>
      )}
      {paymentId !== null && (
        <div className="no-print flex flex-wrap justify-center gap-2">
          {data && isPaid(data.status) && (
            <Button icon={<Icon name="print" />} onClick={() => window.print()}>
              <Trans>Print receipt</Trans>
            </Button>
          )}
          <Link
            className={buttonClass({ variant: 'primary' })}
            to={pathTo('payment', { params: { paymentId } })}
          >
            <Trans>Show the payment</Trans>
          </Link>
          {!intent.refundOf && (
            <Button onClick={onAnother}>
              <Trans>New payment</Trans>
            </Button>
          )}
        </div>
      )}
    </Card>
  )
}

function OutcomeBanners({
  unknown,
  unanswered,
  failed,
}: {
  unknown: boolean
  unanswered: UnansweredReason | null
  /** Its page shows what the network answered. */
  failed: boolean
}) {
  const { t } = useLingui()
  return (
    <>
      {unknown && (
        <Banner
          className="mx-auto mt-5 max-w-120 text-start"
          role="alert"
          title={t`The answer got lost`}
          tone="warn"
        >
          <Trans>Do not pay again.</Trans> <Trans>You can close this page.</Trans>
        </Banner>
      )}
      {unanswered === 'other_session' && (
        <Banner
          className="mx-auto mt-5 max-w-120 text-start"
          role="alert"
          title={t`Payment not in this session`}
          tone="warn"
        >
          <Trans>Check your payments first.</Trans>
        </Banner>
      )}
      {unanswered === 'restored' && (
        <Banner
          className="mx-auto mt-5 max-w-120 text-start"
          role="alert"
          title={t`The payment service was restored from a backup`}
          tone="warn"
        >
          <Trans>Check the managed wallet’s transactions before you pay again.</Trans>
        </Banner>
      )}
      {failed && (
        <Banner className="mx-auto mt-5 max-w-120 text-start" role="alert" tone="bad">
          <Trans>The recipient got nothing.</Trans>
        </Banner>
      )}
    </>
  )
}

const RETRY_MS = 5_000

type Hosted = {
  state: HostedState
  prepare: (order: HostedOrder, fields: HostedFields) => void
  /** What was typed last; forgotten once it was paid. */
  typed: HostedFields | undefined
  sign: (network: Network, signer: ConnectedAccount) => void
  change: () => void
}

/** Drives one payment from a managed wallet; one that an earlier visit left open first. */
function useHosted(): Hosted {
  const [state, dispatch] = useReducer(reduceHosted, { step: 'form', userError: null })
  const [typed, setTyped] = useState<HostedFields>()
  const shown = useRef(true)
  useEffect(() => {
    shown.current = true
    void undelivered().then((send) => {
      if (!send || !shown.current) return
      for (const event of [
        { type: 'prepare' },
        { type: 'prepared', intent: send.intent },
        { type: 'sign' },
        { type: 'signed', signature: send.signature },
      ] as const)
        dispatch(event)
    })
    return () => {
      shown.current = false
    }
  }, [])

  // What is signed goes out at once, and while its answer is missing again and again: always the same request.
  const out = isOut(state) ? state : undefined
  // Both are the same ones while it is out: `sending` and `unknown` are one request, so this runs once a payment.
  const [intent, signature] = [out?.intent, out?.signature]
  useEffect(() => {
    if (!intent || signature === undefined) return
    const send = { nonce: intent.nonce, intent, signature }
    let timer: ReturnType<typeof setTimeout> | undefined
    let current = true
    const attempt = async () => {
      const event = await deliver(send)
      if (!current) return
      dispatch(event)
      if (event.type === 'no_answer') timer = setTimeout(() => void attempt(), RETRY_MS)
    }
    void attempt()
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [intent, signature])

  return {
    state,
    typed,
    prepare: (order, fields) => {
      setTyped(fields)
      dispatch({ type: 'prepare' })
      void prepare(order).then(dispatch)
    },
    sign: (network, signer) => {
      if (state.step !== 'review') return
      dispatch({ type: 'sign' })
      void signIntent(state.intent, network, signer).then(dispatch)
    },
    change: () => {
      if (state.step === 'sent') setTyped(undefined)
      if (state.step === 'unanswered') void forgetSend(state.intent.nonce)
      dispatch({ type: 'change' })
    },
  }
}

const SCREENS: Readonly<Record<HostedState['step'], StepName>> = {
  form: 'details',
  preparing: 'review',
  review: 'review',
  signing: 'wallet',
  sending: 'done',
  unknown: 'done',
  sent: 'done',
  refused: 'done',
  unanswered: 'done',
}

/** Nothing is done while it is not known what became of the payment. */
const OPEN: ReadonlySet<HostedState['step']> = new Set(['sending', 'unknown', 'unanswered'])

/** Pays from a wallet whose key the payment service holds. The operator signs exactly what is shown; the service does the rest. */
export function HostedCheckout({
  wallets,
  from,
  refund,
  onSigned,
  begin = false,
}: {
  wallets: readonly HostedWallet[]
  /** The wallet to begin with, where it is one of these. */
  from: { wallet: string | undefined; network: string | undefined }
  refund?: HostedRefund
  /** What is signed may be paid: the address must not prepare it again. */
  onSigned?: () => void
  /** Prepares the refund at once, where it is complete. */
  begin?: boolean
}) {
  const { t } = useLingui()
  const hosted = useHosted()
  const { state } = hosted
  const container = useRef<HTMLDivElement>(null)
  const screen = SCREENS[state.step]

  useEffect(() => {
    container.current?.querySelector<HTMLElement>('[data-step-heading]')?.focus()
  }, [screen])
  const signed = isOut(state)
  useEffect(() => {
    if (signed) onSigned?.()
  }, [signed, onSigned])
  const words =
    state.step === 'unknown'
      ? `${t`No answer yet.`} ${t`Do not pay again.`}`
      : state.step === 'sent'
        ? t`Sent.`
        : ''
  useEffect(() => announce(words), [words])

  return (
    <div ref={container}>
      <Steps current={OPEN.has(state.step) ? 'wallet' : screen} />
      {state.step === 'form' && (
        <HostedForm
          begin={begin && hosted.typed === undefined}
          refund={refund}
          field={state.field}
          first={Math.max(
            0,
            wallets.findIndex(
              ({ wallet, network }) => wallet === from.wallet && network === from.network,
            ),
          )}
          onPrepare={hosted.prepare}
          start={hosted.typed}
          userError={state.userError}
          wallets={wallets}
        />
      )}
      {state.step === 'preparing' && (
        <Card>
          <div aria-busy="true">
            <StepHeading>
              <Trans>Preparing the payment</Trans>
            </StepHeading>
            <Skeleton className="mt-5 h-40" />
          </div>
        </Card>
      )}
      {(state.step === 'review' || state.step === 'signing') && (
        <HostedReview
          intent={state.intent}
          onChange={hosted.change}
          onSign={hosted.sign}
          signing={state.step === 'signing'}
          userError={state.step === 'review' ? state.userError : null}
        />
      )}
      {(isOut(state) || state.step === 'sent' || state.step === 'unanswered') && (
        <HostedOutcome
          intent={state.intent}
          onAnother={hosted.change}
          paymentId={state.step === 'sent' ? state.paymentId : null}
          unanswered={state.step === 'unanswered' ? state.why : null}
          unknown={state.step === 'unknown'}
        />
      )}
      {state.step === 'refused' && (
        <Card>
          <StepHeading>
            <Trans>Not paid</Trans>
          </StepHeading>
          <Banner className="mt-4" role="alert" title={state.userError.title} tone="warn">
            {state.userError.body}
          </Banner>
          <Button
            className="mt-5"
            icon={<Icon name="refresh" />}
            onClick={hosted.change}
            variant="primary"
          >
            <Trans>Start again</Trans>
          </Button>
        </Card>
      )}
    </div>
  )
}
