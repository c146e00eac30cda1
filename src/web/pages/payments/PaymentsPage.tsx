import { Trans } from '@lingui/react/macro'
import { useSearch } from '../../router/use-route.ts'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { Filters } from './Filters.tsx'
import { ListSkeleton } from './ListSkeleton.tsx'
import { PaymentList } from './PaymentList.tsx'
import { Views } from './Views.tsx'

export function PaymentsPage() {
  const filter = useSearch('payments')
  return (
    <>
      <PageHeader title={<Trans>Payments</Trans>} />
      <SignedIn
        invitation={<Trans>Sign in to see your payments</Trans>}
        skeleton={<ListSkeleton />}
      >
        {(viewer) => (
          <>
            <Views filter={filter} />
            <Filters filter={filter} />
            <PaymentList filter={filter} key={JSON.stringify([viewer, filter])} viewer={viewer} />
          </>
        )}
      </SignedIn>
    </>
  )
}
