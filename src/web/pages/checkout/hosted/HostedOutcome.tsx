import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { HostedIntent } from '#contract/hosted-intent.ts'
import { explorerLink, nativeAsset } from '#contract/network.ts'
import { isPaid, isSettled } from '#contract/payment.ts'
import { paymentQuery } from '../../../api/queries.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { StepHeading } from '../../../payment-flow/steps/Steps.tsx'
import { Link } from '../../../router/Link.tsx'
import { pathTo } from '../../../router/paths.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Spinner } from '../../../ui/Spinner.tsx'
import { StatusPill } from '../../../ui/StatusPill.tsx'
import { Time } from '../../../ui/Time.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'
import { buttonClass, cx } from '../../../ui/button-class.ts'
import type { UnansweredReason } from './machine.ts'

type HostedOutcomeProps = {
  intent: HostedIntent
  paymentId: string | null
  unknown: boolean
  unanswered: UnansweredReason | null
  onAnother: () => void
}

const LOOK_EVERY_MS = 2_000

/** From the signature on. The service executes the payment; its page shows the on-chain state. */
export function HostedOutcome({
  intent,
  paymentId,
  unknown,
  unanswered,
  onAnother,
}: HostedOutcomeProps) {
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
      <OutcomeWays
        onAnother={onAnother}
        paid={data !== undefined && isPaid(data.status)}
        paymentId={paymentId}
        refund={intent.refundOf !== ''}
        unanswered={unanswered !== null}
      />
    </Card>
  )
}

type OutcomeWaysProps = {
  paymentId: string | null
  paid: boolean
  refund: boolean
  unanswered: boolean
  onAnother: () => void
}

/** The one filled button above the others; none while it is not known what became of the payment. */
function OutcomeWays({ paymentId, paid, refund, unanswered, onAnother }: OutcomeWaysProps) {
  if (paymentId === null && !unanswered) return null
  const primary = cx(buttonClass({ variant: 'primary', size: 'lg' }), 'col-span-2')
  return (
    <div className="no-print mx-auto grid max-w-120 grid-cols-2 gap-2">
      {paymentId === null ? (
        <>
          <Link className={primary} to={pathTo('payments', {})}>
            <Trans>All payments</Trans>
          </Link>
          <Button className="col-span-2" icon={<Icon name="refresh" />} onClick={onAnother}>
            <Trans>Start again</Trans>
          </Button>
        </>
      ) : (
        <>
          <Link className={primary} to={pathTo('payment', { params: { paymentId } })}>
            <Trans>Show the payment</Trans>
          </Link>
          {paid && (
            <Button className="last:even:col-span-2" onClick={() => window.print()}>
              <Trans>Print receipt</Trans>
            </Button>
          )}
          {!refund && (
            <Button className="last:even:col-span-2" onClick={onAnother}>
              <Trans>New payment</Trans>
            </Button>
          )}
        </>
      )}
    </div>
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
          title={t`Payment unknown to this session`}
          tone="warn"
        >
          <Trans>Check Payments before paying again.</Trans>
        </Banner>
      )}
      {unanswered === 'restored' && (
        <Banner
          className="mx-auto mt-5 max-w-120 text-start"
          role="alert"
          title={t`The payment service was restored from a backup`}
          tone="warn"
        >
          <Trans>Check the managed wallet before you pay again.</Trans>
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
