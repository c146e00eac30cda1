import { Trans, useLingui } from '@lingui/react/macro'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { formatNumber } from '../../locales/formats.ts'
import { Tooltip } from '../../ui/Tooltip.tsx'

/** How far the network is with a payment that has landed; nothing for one that has not or no longer counts. */
export function Confirmations({
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
      : t`${counted} of ${needed}`
  return (
    <div className="mb-6">
      <div className="flex items-baseline justify-between text-sm">
        <span className="text-muted">
          <span id="confirmations">
            <Trans>Confirmations</Trans>
          </span>{' '}
          <Tooltip label={t`What are confirmations?`}>
            <Trans>
              Every block on top of the payment’s own makes it harder to undo. This network asks for{' '}
              {needed}.
            </Trans>
          </Tooltip>
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
