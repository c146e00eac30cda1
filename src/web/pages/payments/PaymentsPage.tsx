import { Trans } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { SEARCHED_PARTIES } from '#contract/payment-search.ts'
import { hasRole } from '#contract/role.ts'
import { namedCustomersQuery } from '../../api/customers.ts'
import type { PaymentFilter } from '../../api/payment-filter.ts'
import { useRole } from '../../api/session.ts'
import { CustomerName } from '../../payment-view/CustomerName.tsx'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { Address } from '../../ui/Address.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Filters } from './Filters.tsx'
import { ListSkeleton, PaymentList } from './PaymentList.tsx'
import { Views } from './Views.tsx'

export function PaymentsPage() {
  const filter = useSearch('payments')
  return (
    <>
      <PageHeader title={<Trans>Payments</Trans>} />
      <SignedIn skeleton={<ListSkeleton />}>
        {(viewer) => (
          <>
            <Views filter={filter} />
            <Filters filter={filter} />
            {filter.q !== undefined && <NamedCustomers filter={filter} q={filter.q} />}
            <PaymentList filter={filter} key={JSON.stringify([viewer, filter])} viewer={viewer} />
          </>
        )}
      </SignedIn>
    </>
  )
}

const SHOWN = 6

/** The customers that a search names, each with a way to their payments alone. The list has those of all of them, where they are few. */
function NamedCustomers({ filter, q }: { filter: PaymentFilter; q: string }) {
  const member = hasRole(useRole(), 'viewer')
  const id = useId()
  const query = namedCustomersQuery(q)
  const { data } = useQuery({
    ...query,
    enabled: member && query.enabled,
    placeholderData: keepPreviousData,
  })
  const customers = member && query.enabled ? (data ?? []) : []
  if (customers.length === 0) return null
  return (
    <section aria-labelledby={id} className="mb-4">
      <h2 className="mb-2 text-sm text-muted" id={id}>
        <Trans>Customers found</Trans>
      </h2>
      <ul className="flex flex-wrap gap-2">
        {customers.slice(0, SHOWN).map(({ walletAddress, name }) => (
          <li className="max-w-full" key={walletAddress}>
            <Link
              className="inline-flex min-h-10 max-w-full items-center gap-2 rounded-lg border border-line bg-surface px-3 text-sm hover:bg-hover"
              to={pathTo('payments', { search: { ...filter, q: `from:${walletAddress}` } })}
            >
              <Icon className="shrink-0 text-muted" name="person" />
              <span className="min-w-0 truncate">
                <Trans>
                  Payments from <CustomerName name={name} wallet={walletAddress} />
                </Trans>
              </span>
              {name !== '' && (
                <span className="shrink-0 text-xs text-muted">
                  <Address value={walletAddress} />
                </span>
              )}
            </Link>
          </li>
        ))}
        {customers.length > SHOWN && (
          <li className="inline-flex min-h-10 items-center px-1">
            <Link
              className="text-sm underline decoration-edge underline-offset-4"
              to={pathTo('customers', { search: { q } })}
            >
              <Trans>Show more</Trans>
            </Link>
          </li>
        )}
      </ul>
      {customers.length > SEARCHED_PARTIES && (
        <p className="mt-2 text-sm text-muted">
          <Trans>Type more of the name.</Trans>
        </p>
      )}
    </section>
  )
}
