import { Trans } from '@lingui/react/macro'
import { hasRole } from '#contract/role.ts'
import { useRole } from '../../api/session.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { AuditCard } from './AuditCard.tsx'
import { PeopleCard } from './PeopleCard.tsx'

/** For owners: who may use this dashboard, and what they changed. */
export function PeoplePage() {
  const owner = hasRole(useRole(), 'owner')
  return (
    <>
      <PageHeader
        subtitle={<Trans>Access to this dashboard</Trans>}
        title={<Trans>People</Trans>}
      />
      <SignedIn
        invitation={<Trans>Sign in to manage people</Trans>}
        skeleton={<Skeleton className="h-76 rounded-xl" />}
      >
        {() =>
          owner ? (
            <div className="grid gap-4">
              <PeopleCard />
              <AuditCard />
            </div>
          ) : (
            <Card>
              <EmptyState icon="people" title={<Trans>Only owners can manage people</Trans>}>
                <Trans>Sign in with the wallet of an owner.</Trans>
              </EmptyState>
            </Card>
          )
        }
      </SignedIn>
    </>
  )
}
