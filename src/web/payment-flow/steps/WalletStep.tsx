import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { canCancel, type PaymentState } from '../machine.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { StepHeading } from './StepHeading.tsx'

const HELP_AFTER_MS = 8_000

export type WalletStepProps = {
  state: Extract<PaymentState, { step: 'awaiting_wallet' }>
  onChange: () => void
}

/** Step 3: the wallet has the word. */
export function WalletStep({ state, onChange }: WalletStepProps) {
  const { order } = state
  const { walletName } = order
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), HELP_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])

  return (
    <Card>
      <div className="py-6 text-center">
        <span className="inline-flex text-accent">
          <Spinner />
        </span>
        <StepHeading large>
          <Trans>Approve in {walletName}</Trans>
        </StepHeading>
        <p className="mx-auto mt-1 max-w-108 text-sm text-muted">
          <Trans>
            Compare the amount and the address there with these. Approve only if they are equal.
          </Trans>
        </p>
        <div className="mx-auto mt-5 max-w-120 rounded-lg bg-sunken px-4 py-4">
          <Amount
            atomic={order.amountAtomic}
            decimals={order.asset.decimals}
            exact
            size="lg"
            symbol={order.asset.symbol}
          />
          <p className="mt-1">
            <Address full value={order.recipient} />
          </p>
        </div>
        {slow && (
          <div className="mx-auto mt-5 max-w-108 text-start text-sm text-muted" role="status">
            <p className="font-medium text-ink">
              <Trans>Nothing happening?</Trans>
            </p>
            <ul className="mt-1 list-disc space-y-1 ps-5">
              <li>
                <Trans>
                  Click the icon of {walletName} in your browser’s toolbar; its window may be behind
                  this one.
                </Trans>
              </li>
              <li>
                <Trans>Unlock {walletName}. An older request may have to be answered first.</Trans>
              </li>
              <li>
                <Trans>
                  A test network may make the wallet warn. The comparison above is what counts.
                </Trans>
              </li>
            </ul>
          </div>
        )}
        {canCancel(state) && (
          <Button className="mt-5" onClick={onChange} variant="quiet">
            <Trans>Give up</Trans>
          </Button>
        )}
      </div>
    </Card>
  )
}
