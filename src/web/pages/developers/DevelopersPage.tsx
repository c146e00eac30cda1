import { Trans } from '@lingui/react/macro'
import type { Viewer } from '../../api/queries.ts'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { KeysCard } from './KeysCard.tsx'
import { QuotaCard } from './QuotaCard.tsx'
import { SnippetsCard } from './SnippetsCard.tsx'
import { UsageCard } from './UsageCard.tsx'

/**
 * For developers who connect their own server: keys, their usage, what is left of the quota, and
 * how to start.
 */
export function DevelopersPage() {
  return (
    <>
      <PageHeader
        subtitle={<Trans>Keys for your own servers, and how much they ask.</Trans>}
        title={<Trans>Developers</Trans>}
      />
      <SignedIn
        invitation={<Trans>Sign in to manage API keys</Trans>}
        skeleton={<Skeleton className="h-76 rounded-xl" />}
      >
        {(viewer) => <Content viewer={viewer} />}
      </SignedIn>
    </>
  )
}

function Content({ viewer }: { viewer: Viewer }) {
  if (viewer.wallets !== 'all') {
    return (
      <div className="grid gap-4">
        <Card>
          <EmptyState icon="shield" title={<Trans>Only operators can manage API keys</Trans>}>
            <Trans>Sign in with an operator wallet. Your payments need no key.</Trans>
          </EmptyState>
        </Card>
        <SnippetsCard />
      </div>
    )
  }
  return (
    <div className="grid gap-4 xl:grid-cols-3">
      <div className="grid min-w-0 content-start gap-4 xl:col-span-2">
        <KeysCard />
        <UsageCard />
      </div>
      <div className="grid min-w-0 content-start gap-4">
        <QuotaCard />
        <SnippetsCard />
      </div>
    </div>
  )
}
