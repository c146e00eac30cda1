import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { isPaid } from '#contract/payment.ts'
import { paymentQuery } from '../../api/queries.ts'
import { useConfig } from '../../api/use-config.ts'
import type { PaymentState } from '../../payment-flow/machine.ts'
import { AnotherEndpoint } from '../../payment-flow/steps/AnotherEndpoint.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { buttonClass } from '../../ui/button-class.ts'

const EVERY_MS = 5_000

export type SilentEndpointProps = {
  state: Extract<PaymentState, { sent: unknown }>
  /** The way back to the shop, where the link names one. */
  back: URL | undefined
  onBack: () => void
}

/**
 * While no RPC endpoint answers the payer: another endpoint, and the way back to the shop once the merchant says that it is paid. That is no receipt: the
 * merchant is who tells it, and who is told.
 */
export function SilentEndpoint({ state, back, onBack }: SilentEndpointProps) {
  const { t } = useLingui()
  const { title: merchant } = useConfig()
  const { data } = useQuery({
    ...paymentQuery(state.built.paymentId),
    enabled: back !== undefined,
    refetchInterval: EVERY_MS,
  })
  const host = back?.host ?? ''
  return (
    <div className="no-print mt-5 space-y-2">
      {back && data && isPaid(data.status) && (
        <>
          <Banner role="status" title={t`Confirmed by ${merchant}`} tone="info">
            <Trans>Not checked on your RPC endpoint.</Trans>
          </Banner>
          <a
            className={buttonClass({ variant: 'primary', size: 'lg', wide: true })}
            href={back.href}
            onClick={onBack}
            rel="noopener noreferrer"
          >
            <Trans>Back to {host}</Trans>
          </a>
        </>
      )}
      <AnotherEndpoint network={state.order.network} wide />
    </div>
  )
}
