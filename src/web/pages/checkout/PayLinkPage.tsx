import { useQuery } from '@tanstack/react-query'
import { useLingui } from '@lingui/react/macro'
import { useCallback, useMemo } from 'react'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { useConfig } from '../../api/use-config.ts'
import { pathTo } from '../../router/paths.ts'
import { useParams, useSearch } from '../../router/use-route.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkout } from './Checkout.tsx'
import { LinkTermsCard } from './LinkTermsCard.tsx'
import { linkQuery, type LinkProblem } from '../../payment-flow/form/open-link.ts'
import { prefillFromLink } from '../../payment-flow/form/start-values.ts'

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
