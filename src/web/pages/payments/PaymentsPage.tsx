import { useSearch } from '../../router/use-route.ts'
import { SignedIn } from '../../session/SignedIn.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { Filters } from './Filters.tsx'
import { ListSkeleton } from './ListSkeleton.tsx'
import { PaymentList } from './PaymentList.tsx'

export function PaymentsPage() {
  const filter = useSearch('payments')
  return (
    <>
      <PageHeader title="Payments" />
      <SignedIn invitation="Sign in to see your payments" skeleton={<ListSkeleton />}>
        {(viewer) => (
          <>
            <Filters filter={filter} />
            <PaymentList filter={filter} key={JSON.stringify([viewer, filter])} viewer={viewer} />
          </>
        )}
      </SignedIn>
    </>
  )
}
