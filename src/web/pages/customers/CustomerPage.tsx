import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { parseAddress } from '#contract/address.ts'
import type { Customer } from '#contract/customer-endpoints.ts'
import { shortAddress } from '#contract/known-address.ts'
import { explorerLink } from '#contract/network.ts'
import { hasRole } from '#contract/role.ts'
import { customerQuery, profilesQuery } from '../../api/customers.ts'
import { newestQuery } from '../../api/queries.ts'
import { useRole } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { useCustomerName } from '../../payment-view/CustomerName.tsx'
import { PaymentCard } from '../../payment-view/PaymentCard.tsx'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { useParams } from '../../router/use-route.tsx'
import { PageHeading } from '../../shell/PageHeading.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { netOf } from './NetTotals.tsx'
import { DataCard, ProfileCard } from './ProfileCard.tsx'

const NEWEST = 8

/** One customer: what they paid, and who they are to the account. */
export function CustomerPage() {
  const { walletAddress } = useParams('customer')
  const parsed = parseAddress(walletAddress)
  const member = hasRole(useRole(), 'viewer')
  return (
    <>
      <Link
        className={buttonClass({ variant: 'quiet', size: 'sm' }, 'mb-4 -ms-2.5')}
        to={pathTo('customers', {})}
      >
        <Icon name="arrowLeft" /> <Trans>Customers</Trans>
      </Link>
      <SignedIn skeleton={<Skeleton className="h-76 rounded-xl" />}>
        {() => (member && parsed.ok ? <Known wallet={parsed.address} /> : <Unknown />)}
      </SignedIn>
    </>
  )
}

function Unknown() {
  return (
    <>
      <PageHeading className="mb-6 text-xl font-semibold">
        <Trans>Customer</Trans>
      </PageHeading>
      <Card>
        <EmptyState icon="search" title={<Trans>Customer not found</Trans>}>
          <Trans>Check the link, or switch wallets.</Trans>
        </EmptyState>
      </Card>
    </>
  )
}

function Known({ wallet }: { wallet: string }) {
  const customer = useQuery(customerQuery(wallet))
  const profiles = useQuery(profilesQuery([wallet]))
  const profile = profiles.data?.get(wallet)
  const name = useCustomerName(wallet, profile?.name)
  return (
    <>
      <header className="mb-6">
        <PageHeading className="text-xl font-semibold">
          {name ? (
            <UntrustedText text={name} />
          ) : (
            <span className="font-mono">{shortAddress(wallet)}</span>
          )}
        </PageHeading>
        <p className="mt-1 text-sm text-muted">
          <Address copy full value={wallet} />
        </p>
      </header>
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_340px]">
        <div className="grid min-w-0 content-start gap-4">
          {customer.data !== undefined ? (
            <Figures customer={customer.data} />
          ) : customer.error ? (
            <Card>
              <QueryError
                busy={customer.isFetching}
                error={customer.error}
                onRetry={() => void customer.refetch()}
              />
            </Card>
          ) : (
            <Skeleton className="h-52 rounded-xl" />
          )}
          <History wallet={wallet} />
        </div>
        <div className="grid min-w-0 content-start gap-4">
          {profiles.data ? (
            <>
              <ProfileCard profile={profile} wallet={wallet} />
              <DataCard wallet={wallet} />
            </>
          ) : profiles.error ? (
            <Card>
              <QueryError
                busy={profiles.isFetching}
                error={profiles.error}
                onRetry={() => void profiles.refetch()}
              />
            </Card>
          ) : (
            <Skeleton className="h-76 rounded-xl" />
          )}
        </div>
      </div>
    </>
  )
}

function Figures({ customer }: { customer: Customer | null }) {
  const { networks } = useConfig()
  if (!customer) {
    return (
      <Card title={<Trans>Totals</Trans>}>
        <p className="text-sm text-muted">
          <Trans>Nothing yet</Trans>
        </p>
      </Card>
    )
  }
  const { walletAddress, payments, firstAt, lastAt, totals } = customer
  return (
    <Card
      subtitle={<Trans>Confirmed and finalized payments.</Trans>}
      title={<Plural one="# payment" other="# payments" value={payments} />}
    >
      <Facts>
        <Fact name={<Trans>First payment</Trans>}>
          <Time at={firstAt} look="full" />
        </Fact>
        <Fact name={<Trans>Last payment</Trans>}>
          <Time at={lastAt} look="full" />
        </Fact>
      </Facts>
      <ul className="mt-4 divide-y divide-line border-t border-line">
        {totals.map((total) => {
          const network = networks.find((each) => each.network === total.network)
          const explorer = network && explorerLink(network, 'address', walletAddress)
          const amount = (atomic: bigint | string) => (
            <Amount atomic={atomic} decimals={total.decimals} exact symbol={total.symbol} />
          )
          return (
            <li className="py-3 last:pb-0" key={`${total.network} ${total.asset}`}>
              <p className="mb-2 flex items-center gap-2 text-sm font-medium">
                {total.symbol} · {network?.name ?? total.network}
                {explorer && (
                  <a
                    className="text-muted hover:text-ink"
                    href={explorer}
                    rel="noopener noreferrer"
                    target="_blank"
                  >
                    <Icon name="external" size={14} />
                    <span className="sr-only">
                      <Trans>View in explorer</Trans>
                    </span>
                  </a>
                )}
              </p>
              <Facts>
                <Fact name={<Trans>Received</Trans>}>{amount(total.receivedAtomic)}</Fact>
                {total.refunds > 0 && (
                  <Fact name={<Trans>Refunded</Trans>}>{amount(total.refundedAtomic)}</Fact>
                )}
                {total.refunds > 0 && (
                  <Fact name={<Trans>Paid, less refunds</Trans>}>{amount(netOf(total))}</Fact>
                )}
              </Facts>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

/** The newest payments of this address, whatever became of them. */
function History({ wallet }: { wallet: string }) {
  const { t } = useLingui()
  const q = `from:${wallet}`
  const { data, error, refetch, isFetching } = useQuery(
    newestQuery({ wallets: 'all' }, { q }, NEWEST),
  )
  return (
    <Card
      action={
        <Link
          className={buttonClass({ variant: 'quiet', size: 'sm' }, '-my-1 -me-2.5')}
          to={pathTo('payments', { search: { q } })}
        >
          <Trans>All payments</Trans>
        </Link>
      }
      flush
      title={<Trans>Latest payments</Trans>}
    >
      {data ? (
        <ul className="divide-y divide-line border-t border-line">
          {data.payments.map((row) => (
            <li key={row.paymentId}>
              <PaymentCard row={row} />
            </li>
          ))}
        </ul>
      ) : error ? (
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      ) : (
        <div aria-busy="true" aria-label={t`Loading`} className="px-5 pb-5" role="status">
          <Skeleton className="h-24" />
        </div>
      )}
    </Card>
  )
}
