import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import {
  MOST_CUSTOMERS,
  type Customer,
  type CustomerProfile,
  type CustomerSort,
} from '#contract/customer-endpoints.ts'
import { hasRole } from '#contract/role.ts'
import {
  customerSearchQuery,
  customersQuery,
  profilesQuery,
  type Profiles,
} from '../../api/customers.ts'
import { useRole } from '../../api/session.ts'
import { formatNumber } from '../../locales/formats.ts'
import { CustomerName } from '../../payment-view/CustomerName.tsx'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo, readSearch } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { NoAccess } from '../../shell/NoAccess.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Address } from '../../ui/Address.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { SearchBox } from '../../ui/SearchBox.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Table, Td, Th } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { NetTotals } from './NetTotals.tsx'

/** Who paid the account, with what they paid. */
export function CustomersPage() {
  const member = hasRole(useRole(), 'viewer')
  return (
    <>
      <PageHeader title={<Trans>Customers</Trans>} />
      <SignedIn skeleton={<Skeleton className="h-76 rounded-xl" />}>
        {() => (member ? <Customers /> : <NoAccess icon="person" />)}
      </SignedIn>
    </>
  )
}

function Customers() {
  const { t } = useLingui()
  const { q, sort = 'last' } = useSearch('customers')
  const change = (next: { q?: string | undefined; sort?: string | undefined }) =>
    navigate(pathTo('customers', { search: readSearch('customers', { q, sort, ...next }) }), {
      replace: true,
    })
  return (
    <>
      <search className="mb-4 flex flex-wrap gap-2">
        <SearchBox
          label={t`Search customers`}
          onSearch={(text) => change({ q: text || undefined })}
          placeholder={t`Name, label, email or address`}
          text={q ?? ''}
        />
        <Select
          aria-label={t`Sort by`}
          disabled={q !== undefined}
          onChange={(event) => change({ sort: event.target.value })}
          value={sort}
        >
          <option value="last">{t`Last payment`}</option>
          <option value="first">{t`Newest customers`}</option>
          <option value="payments">{t`Most payments`}</option>
        </Select>
      </search>
      {q === undefined ? <Sorted key={sort} sort={sort} /> : <Found text={q} />}
    </>
  )
}

function Sorted({ sort }: { sort: CustomerSort }) {
  const query = useInfiniteQuery(customersQuery(sort))
  // A customer who pays while the list is read may be on two pages.
  const customers = query.data && [
    ...new Map(
      query.data.pages.flatMap((page) => page.customers.map((each) => [each.walletAddress, each])),
    ).values(),
  ]
  return (
    <List
      customers={customers}
      empty={<EmptyState icon="person" title={<Trans>No customers yet</Trans>} />}
      query={query}
    >
      {query.hasNextPage && (
        <Button
          busy={query.isFetchingNextPage}
          className="mt-3"
          onClick={() => void query.fetchNextPage()}
        >
          <Trans>Show more</Trans>
        </Button>
      )}
    </List>
  )
}

function Found({ text }: { text: string }) {
  const query = useQuery({ ...customerSearchQuery(text), placeholderData: keepPreviousData })
  return (
    <List
      customers={query.data}
      empty={
        <EmptyState icon="search" title={<Trans>Nothing found</Trans>}>
          <Trans>Try the start of a name or address.</Trans>
        </EmptyState>
      }
      query={query}
    >
      {query.data && query.data.length >= MOST_CUSTOMERS && (
        <p className="mt-3 text-sm text-muted">
          <Trans>The first {MOST_CUSTOMERS} are shown.</Trans>
        </p>
      )}
    </List>
  )
}

type ListProps = {
  customers: readonly Customer[] | undefined
  query: { error: Error | null; isFetching: boolean; refetch: () => unknown }
  empty: ReactNode
  children: ReactNode
}

function List({ customers, query, empty, children }: ListProps) {
  const wallets = customers?.map(({ walletAddress }) => walletAddress) ?? []
  // As many as one call takes: further on, addresses stand alone.
  const { data: profiles } = useQuery({
    ...profilesQuery(wallets.slice(0, 500)),
    placeholderData: keepPreviousData,
  })
  if (!customers) {
    return query.error ? (
      <Card>
        <QueryError
          busy={query.isFetching}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      </Card>
    ) : (
      <Skeleton className="h-76 rounded-xl" />
    )
  }
  if (customers.length === 0) return <Card>{empty}</Card>
  return (
    <>
      <CustomerTable customers={customers} profiles={profiles} />
      {children}
    </>
  )
}

function CustomerTable({
  customers,
  profiles,
}: {
  customers: readonly Customer[]
  profiles: Profiles | undefined
}) {
  const { t } = useLingui()
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <Table caption={t`Customers`}>
        <thead>
          <tr>
            <Th>
              <Trans>Customer</Trans>
            </Th>
            <Th className="max-md:hidden" end>
              <Trans>Payments</Trans>
            </Th>
            <Th className="ps-8 max-lg:hidden">
              <Trans>First payment</Trans>
            </Th>
            <Th className="max-md:hidden">
              <Trans>Last payment</Trans>
            </Th>
            <Th end>
              <Trans>Paid, less refunds</Trans>
            </Th>
          </tr>
        </thead>
        <tbody className="[&>tr:last-child>td]:border-b-0">
          {customers.map((each) => (
            <CustomerRow
              customer={each}
              key={each.walletAddress}
              profile={profiles?.get(each.walletAddress)}
            />
          ))}
        </tbody>
      </Table>
    </div>
  )
}

function CustomerRow({
  customer: { walletAddress, payments, firstAt, lastAt, totals },
  profile,
}: {
  customer: Customer
  profile: CustomerProfile | undefined
}) {
  return (
    <tr className="relative hover:bg-hover">
      <Td className="max-w-64">
        <Link
          className="block truncate font-medium outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          to={pathTo('customer', { params: { walletAddress } })}
        >
          <CustomerName name={profile?.name} wallet={walletAddress} />
        </Link>
        <span className="flex flex-wrap items-center gap-1.5 text-xs text-muted">
          {profile?.name && <Address value={walletAddress} />}
          {profile?.labels.map((label) => (
            <Badge key={label} tone="neutral">
              <UntrustedText text={label} />
            </Badge>
          ))}
        </span>
        <span className="block text-xs text-muted md:hidden">
          <Plural one="# payment" other="# payments" value={payments} /> · <Time at={lastAt} />
        </span>
      </Td>
      <Td className="figures max-md:hidden" end>
        {formatNumber(payments)}
      </Td>
      <Td className="ps-8 whitespace-nowrap text-muted max-lg:hidden">
        <Time at={firstAt} />
      </Td>
      <Td className="whitespace-nowrap text-muted max-md:hidden">
        <Time at={lastAt} />
      </Td>
      <Td end>
        <NetTotals totals={totals} />
      </Td>
    </tr>
  )
}
