import { Trans } from '@lingui/react/macro'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'
import { StepHeading } from '../../../payment-flow/steps/StepHeading.tsx'
import type { PurchaseView } from './use-purchase.ts'

/** The free signature that ties a transfer that landed to what it pays for. */
export function ProofCard({ view }: { view: PurchaseView }) {
  const { state, visit, signing, userError, sign } = view
  const { walletName } = state.order
  return (
    <Card>
      <StepHeading>
        <Trans>Now sign the proof</Trans>
      </StepHeading>
      <p className="mt-1 text-sm text-muted">
        <Trans>
          It is free and moves nothing. It tells the seller that this payment is yours, and for this
          page only.
        </Trans>
      </p>
      <Facts className="mt-4 rounded-lg bg-sunken px-4 py-3">
        <Fact name={<Trans>Pays for</Trans>} long>
          <UntrustedText className="font-mono text-[13px] break-all" text={visit.resource.url} />
        </Fact>
        {visit.resource.description && (
          <Fact name={<Trans>Description</Trans>} long>
            <UntrustedText text={visit.resource.description} />
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
        {userError ? (
          <Trans>Sign again with {walletName}</Trans>
        ) : (
          <Trans>Sign the proof with {walletName}</Trans>
        )}
      </Button>
    </Card>
  )
}
