import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { HostedIntent } from '#contract/hosted-intent.ts'
import { isSettled } from '#contract/payment.ts'
import { paymentQuery } from '../../../api/queries.ts'
import { pathTo } from '../../../router/paths.ts'
import { Link } from '../../../router/Link.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { buttonClass } from '../../../ui/button-class.ts'
import { Card } from '../../../ui/Card.tsx'
import { Spinner } from '../../../ui/Spinner.tsx'
import { StatusPill } from '../../../ui/StatusPill.tsx'
import { StepHeading } from '../../../payment-flow/steps/StepHeading.tsx'

export type HostedOutcomeProps = {
  intent: HostedIntent
  paymentId: string | null
  unknown: boolean
  onAnother: () => void
}

const LOOK_EVERY_MS = 2_000

/** From the signature on. The service executes the payment; its page shows the on-chain state. */
export function HostedOutcome({ intent, paymentId, unknown, onAnother }: HostedOutcomeProps) {
  const { t } = useLingui()
  const { data } = useQuery({
    ...paymentQuery(paymentId ?? ''),
    enabled: paymentId !== null,
    refetchInterval: ({ state }) =>
      state.data && isSettled(state.data.status) ? false : LOOK_EVERY_MS,
  })
  return (
    <Card>
      <div className="py-4 text-center">
        {paymentId === null ? (
          <span className="inline-flex text-accent">
            <Spinner />
          </span>
        ) : (
          data && <StatusPill status={data.status} />
        )}
        <StepHeading large>
          {paymentId !== null
            ? t`The payment service has it`
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
        {unknown && (
          <Banner
            className="mx-auto mt-5 max-w-120 text-start"
            role="alert"
            title={t`The answer got lost`}
            tone="warn"
          >
            <Trans>
              The same request is sent again until it is certain; it can never become a second
              payment. Do not pay a second time. You can leave: this browser goes on when you come
              back.
            </Trans>
          </Banner>
        )}
        {data?.failure && (
          <Banner className="mx-auto mt-5 max-w-120 text-start" role="alert" tone="bad">
            {data.failure}
          </Banner>
        )}
      </div>
      {paymentId !== null && (
        <div className="flex flex-wrap justify-center gap-2">
          <Link
            className={buttonClass({ variant: 'primary' })}
            to={pathTo('payment', { params: { paymentId } })}
          >
            <Trans>Show the payment</Trans>
          </Link>
          <Button onClick={onAnother}>
            <Trans>New payment</Trans>
          </Button>
        </div>
      )}
    </Card>
  )
}
