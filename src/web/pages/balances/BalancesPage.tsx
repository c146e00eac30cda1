import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { BalanceWallet } from '#contract/hosted-endpoints.ts'
import { familyOf, type Network } from '#contract/network.ts'
import { hasRole } from '#contract/role.ts'
import { balanceWalletsQuery } from '../../api/balances.ts'
import { hostedWalletsQuery } from '../../api/hosted-wallets.ts'
import { newestQuery, type Viewer } from '../../api/queries.ts'
import { useRole } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { formatList } from '../../locales/formats.ts'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { NoAccess } from '../../shell/NoAccess.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { NetworkCard } from './NetworkCard.tsx'
import { OPEN_STATUSES, pendingOutflows, type Pending } from './figures.ts'

/** The address of a wallet, to send money to. */
export function TopUpDialog({
  at,
  onClose,
}: {
  at: { network: Network; wallet: BalanceWallet }
  onClose: () => void
}) {
  const { t } = useLingui()
  const { network, wallet } = at
  const { name } = network
  const symbols = formatList(
    network.assets.map(({ symbol }) => symbol),
    'disjunction',
  )
  return (
    <Dialog
      description={
        <Trans>
          Send {symbols} on {name} only.
        </Trans>
      }
      onClose={onClose}
      open
      title={t`Top up`}
    >
      <div className="space-y-4">
        <QrCode
          className="mx-auto w-full max-w-72 border border-line"
          label={t`Code for ${{ name: wallet.wallet }}`}
          value={wallet.wallet}
        />
        <p className="rounded-lg bg-sunken px-3 py-2">
          <span className="block text-sm font-semibold [overflow-wrap:anywhere]">
            {wallet.name ?? <Trans>Receiving wallet</Trans>}
          </span>
          <Address copy full value={wallet.wallet} />
        </p>
      </div>
    </Dialog>
  )
}

const ACCOUNT: Viewer = { wallets: 'all' }
/** As many as one answer of the service may hold. */
const MOST_OPEN = 500

/** What the wallets of the account hold, per network, read from the chains by this browser. */
export function BalancesPage() {
  const { t } = useLingui()
  const role = useRole()
  return (
    <div className="mx-auto max-w-[1080px]">
      <PageHeader
        subtitle={t`Available is the balance less pending payments, before network fees.`}
        title={t`Balances`}
      />
      <SignedIn skeleton={<PageSkeleton />}>
        {() => (hasRole(role, 'viewer') ? <Wallets /> : <NoAccess icon="wallet" />)}
      </SignedIn>
    </div>
  )
}

function Wallets() {
  const { t } = useLingui()
  const { networks } = useConfig()
  const search = useSearch('balances')
  const { data, error, refetch, isFetching, dataUpdatedAt } = useQuery(balanceWalletsQuery)
  const { data: limits = [] } = useQuery(hostedWalletsQuery)
  const { pending, settled, complete, readPending } = usePending()
  if (!data)
    return error ? (
      <Card>
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      </Card>
    ) : (
      <PageSkeleton />
    )
  if (data.wallets.length === 0)
    return (
      <Card>
        <EmptyState icon="wallet" title={t`No wallets yet`}>
          <Trans>Add wallets over the API.</Trans>
        </EmptyState>
      </Card>
    )
  const topUp = networks
    .filter(({ network }) => network === search.network)
    .flatMap((network) =>
      data.wallets
        .filter((each) => each.wallet === search.wallet && isOn(each, network))
        .map((wallet) => ({ network, wallet })),
    )[0]
  return (
    <div className="space-y-5">
      <StaleBanner error={error} onRetry={() => void refetch()} readAt={dataUpdatedAt} />
      {!data.complete && (
        <Banner role="note">
          <Trans>Only configured wallets: the API key lacks wallets:manage.</Trans>
        </Banner>
      )}
      {!complete && (
        <Banner role="note" tone="warn">
          <Trans>Not all pending payments are counted.</Trans>
        </Banner>
      )}
      {networks.map((network) => {
        const wallets = data.wallets.filter((each) => isOn(each, network))
        return (
          wallets.length > 0 && (
            <NetworkCard
              alerts={data.alerts.filter((alert) => alert.network === network.network)}
              key={network.network}
              limits={limits.filter((limit) => limit.network === network.network)}
              network={network}
              pending={pending}
              readPending={readPending}
              settled={settled}
              wallets={wallets}
            />
          )
        )
      })}
      {topUp && (
        <TopUpDialog
          at={topUp}
          onClose={() => navigate(pathTo('balances', {}), { replace: true })}
        />
      )}
    </div>
  )
}

function isOn({ family, network }: BalanceWallet, of: Network): boolean {
  return family === familyOf(of.network) && (network === null || network === of.network)
}

/** What open payments take out of the wallets; undefined where that cannot be read. */
function usePending(): {
  pending: Pending | undefined
  settled: boolean
  complete: boolean
  readPending: () => Promise<unknown>
} {
  const open = { status: OPEN_STATUSES }
  const sent = useQuery(newestQuery(ACCOUNT, { ...open, type: 'sent' }, MOST_OPEN))
  const moved = useQuery(newestQuery(ACCOUNT, { ...open, type: 'internal' }, MOST_OPEN))
  const settled = !sent.isPending && !moved.isPending
  const readPending = () => Promise.all([sent.refetch(), moved.refetch()])
  if (!sent.data || !moved.data) return { pending: undefined, settled, complete: true, readPending }
  const pages = [sent.data, moved.data]
  return {
    pending: pendingOutflows(pages.flatMap(({ payments }) => payments)),
    settled,
    complete: pages.every(({ total, payments }) => total <= payments.length),
    readPending,
  }
}
