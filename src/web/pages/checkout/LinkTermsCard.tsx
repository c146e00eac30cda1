import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedLink, UntrustedText } from '../../ui/UntrustedText.tsx'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'

/** What a link sets, and who set it. Nothing here can be changed; the review compares the transaction with exactly this. */
export function LinkTermsCard({ link }: { link: OpenLink }) {
  const { t } = useLingui()
  const { terms, asset, network, setBy } = link
  const { amountAtomic, resource, description, reference, expiresAt } = terms
  return (
    <Card className="mb-4">
      <p className="flex items-center gap-2 text-sm text-muted">
        <Icon className="shrink-0" name="shield" />
        <span>
          <Trans>
            Set by <span className="font-medium text-ink">{setBy}</span>, signed. Nobody changed it
            since.
          </Trans>
        </span>
      </p>
      <div className="mt-4">
        {amountAtomic === null ? (
          <p className="text-lg font-semibold">
            <Trans>You choose the amount</Trans>
          </p>
        ) : (
          <Amount
            atomic={amountAtomic}
            decimals={asset.decimals}
            exact
            size="xl"
            symbol={asset.symbol}
          />
        )}
        {description && (
          <p className="mt-1">
            <UntrustedText text={description} />
          </p>
        )}
      </div>
      <Facts className="mt-4 border-t border-line pt-4">
        <Locked name={t`To`} long>
          <Address copy full value={terms.recipient} />
        </Locked>
        <Locked name={t`Network`}>{network.name}</Locked>
        <Locked name={t`Currency`}>
          {asset.name === asset.symbol ? asset.symbol : `${asset.name} (${asset.symbol})`}
        </Locked>
        {reference && (
          <Locked name={t`Reference`}>
            <UntrustedText text={reference} />
          </Locked>
        )}
        {resource && (
          <Locked name={t`Resource`} long>
            <UntrustedLink href={resource} />
          </Locked>
        )}
        {expiresAt !== null && (
          <Locked name={t`Good until`}>
            <Time at={expiresAt} look="full" />
          </Locked>
        )}
      </Facts>
    </Card>
  )
}

function Locked({ name, long, children }: { name: string; long?: boolean; children: ReactNode }) {
  return (
    <Fact
      name={
        <span className="inline-flex items-center gap-1.5">
          <Icon name="lock" size={14} />
          {name}
          <span className="sr-only">
            , <Trans>set by the seller</Trans>
          </span>
        </span>
      }
      {...(long !== undefined && { long })}
    >
      {children}
    </Fact>
  )
}
