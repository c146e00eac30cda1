import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { UnmatchedTransfer } from '#contract/unmatched-endpoints.ts'
import { unmatchedQuery } from '../../../api/inbox.ts'
import { pathTo } from '../../../router/paths.ts'
import { Link } from '../../../router/Link.tsx'
import { PageHeader } from '../../../shell/PageHeader.tsx'
import { QueryError } from '../../../shell/QueryError.tsx'
import { StaleBanner } from '../../../shell/StaleBanner.tsx'
import { buttonClass } from '../../../ui/button-class.ts'
import { Card } from '../../../ui/Card.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { AssignDialog, type PendingAssignment } from './AssignDialog.tsx'
import { TransferItem } from './TransferItem.tsx'

/** Money that arrived at the merchant's wallets and that no order has evidence for. Only operators get here. */
export function Unmatched() {
  return (
    <>
      <Link
        className={buttonClass({ variant: 'quiet', size: 'sm' }, 'mb-4 -ms-2.5')}
        to={pathTo('overview', {})}
      >
        <Icon name="arrowLeft" /> <Trans>Overview</Trans>
      </Link>
      <PageHeader
        subtitle={<Trans>Received, but not confirmed by the payer.</Trans>}
        title={<Trans>Unmatched payments</Trans>}
      />
      <Transfers />
    </>
  )
}

function Transfers() {
  const { t } = useLingui()
  const query = useQuery(unmatchedQuery)
  const [assignment, setAssignment] = useState<PendingAssignment>()
  const { data, error, refetch, isFetching } = query
  if (!data) {
    if (error) return <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
    return (
      <div
        aria-busy="true"
        aria-label={t`Loading unmatched payments`}
        className="grid gap-4"
        role="status"
      >
        <Skeleton className="h-40 rounded-xl" />
        <Skeleton className="h-40 rounded-xl" />
      </div>
    )
  }
  const { transfers, total } = data
  const shown = transfers.length
  return (
    <>
      <StaleBanner error={error} onRetry={() => void refetch()} readAt={query.dataUpdatedAt} />
      {shown === 0 ? (
        <Card>
          <EmptyState icon="check" title={<Trans>All matched</Trans>}>
            <Trans>Every payment is matched.</Trans>
          </EmptyState>
        </Card>
      ) : (
        <ul className="grid gap-4">
          {transfers.map((transfer: UnmatchedTransfer) => (
            <TransferItem
              key={transfer.transferId}
              onAssign={(candidate) => setAssignment({ transfer, candidate })}
              onChanged={() => void refetch()}
              transfer={transfer}
            />
          ))}
        </ul>
      )}
      {total > shown && (
        <p className="mt-4 text-sm text-muted">
          <Trans>
            Newest {shown} of {total}
          </Trans>
        </p>
      )}
      {assignment && (
        <AssignDialog
          assignment={assignment}
          onAssigned={() => void refetch()}
          onClose={() => setAssignment(undefined)}
        />
      )}
    </>
  )
}
