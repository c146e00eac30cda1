import { useLingui, Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, type ReactNode } from 'react'
import { useConfig } from '../../api/use-config.ts'
import { linkQuery, type LinkProblem, type OpenLink } from '../../payment-flow/form/open-link.ts'
import { prefillFromLink } from '../../payment-flow/form/start-values.ts'
import { pathTo } from '../../router/paths.ts'
import { useParams, useSearch } from '../../router/use-route.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedLink, UntrustedText } from '../../ui/UntrustedText.tsx'
import { Checkout } from './Checkout.tsx'

/** A payment that a seller asks for: what their link sets cannot be changed here, and is checked before anything else happens. */
export function PayLinkPage() {
  const { t } = useLingui()
  const { link: text } = useParams('payLink')
  const { payment } = useSearch('payLink')
  const config = useConfig()
  const { data, error, refetch, isFetching } = useQuery(linkQuery(text, config))
  const addressOf = useCallback(
    (at: { payment?: string }) =>
      pathTo('payLink', { params: { link: text }, search: { payment: at.payment } }),
    [text],
  )
  const link = data && 'link' in data ? data.link : undefined
  const asked = useMemo(() => (link ? prefillFromLink(link) : {}), [link])

  return (
    <div className="mx-auto max-w-[880px]">
      <div className="no-print">
        <PageHeader subtitle={t`From your wallet, straight to the recipient.`} title={t`Pay`} />
      </div>
      {!data && error && (
        <Card>
          <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
        </Card>
      )}
      {!data && !error && <PageSkeleton />}
      {data?.kind === 'refused' && <Refused problem={data.problem} />}
      {link && (
        <Checkout
          addressOf={addressOf}
          asked={asked}
          closed={data?.kind === 'closed' && <Refused problem={data.problem} />}
          link={link}
          wanted={payment}
        >
          <LinkTermsCard link={link} />
        </Checkout>
      )}
    </div>
  )
}

function Refused({ problem }: { problem: LinkProblem }) {
  return (
    <Banner role="alert" title={problem.title} tone="warn">
      {problem.body}
    </Banner>
  )
}

/** What a link sets, and who set it. Nothing here can be changed; the review compares the transaction with exactly this. */
function LinkTermsCard({ link }: { link: OpenLink }) {
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
