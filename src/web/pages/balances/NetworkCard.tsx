import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { BalanceAlert, BalanceWallet, HostedWallet } from '#contract/hosted-endpoints.ts'
import { findAsset, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { queryClient } from '../../api/query-client.ts'
import { HostedCaps } from '../../payment-flow/form/HostedCaps.tsx'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { FRESH_MS, readBalances } from '../../rpc/read-balances.ts'
import { RpcError } from '../../rpc/call.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { AlertDialog } from './AlertDialog.tsx'
import { figureOf, pendingOn, totalOf, type Figure, type Pending } from './figures.ts'

/**
 * The balances, with the open payments that were known before: a payment that lands between the two
 * readings makes what is available too small for a moment, never too large. Other open payments are
 * another reading.
 */
function balancesQuery(network: Network, wallets: readonly string[], pending: Pending | undefined) {
  return queryOptions({
    queryKey: ['networkBalances', network.network, wallets, pendingOn(network.network, pending)],
    queryFn: async () => ({
      ...(await readBalances(network, wallets, network.assets)),
      pending,
    }),
    staleTime: FRESH_MS,
    // The endpoints have been asked one after the other already.
    retry: false,
  })
}

type NetworkCardProps = {
  network: Network
  wallets: readonly BalanceWallet[]
  alerts: readonly BalanceAlert[]
  limits: readonly HostedWallet[]
  pending: Pending | undefined
  /** Whether that is all that will be known of it. */
  settled: boolean
  readPending: () => Promise<unknown>
}

/** The wallets on one network. What its endpoints do not say is an error of this network alone. */
export function NetworkCard({
  network,
  wallets,
  alerts,
  limits,
  pending,
  settled,
  readPending,
}: NetworkCardProps) {
  const addresses = wallets.map(({ wallet }) => wallet)
  const { data, error, isFetching, isPending, dataUpdatedAt } = useQuery({
    ...balancesQuery(network, addresses, pending),
    enabled: settled,
    placeholderData: keepPreviousData,
  })
  const [alertFor, setAlertFor] = useState<BalanceWallet>()
  const [reading, setReading] = useState(false)
  async function readAgain() {
    setReading(true)
    // First: money that was sent since would be available still.
    await readPending()
    await queryClient.invalidateQueries({ queryKey: ['networkBalances', network.network] })
    setReading(false)
  }
  const figure = (wallet: string, asset: Asset) =>
    figureOf(data?.balances, data?.pending, {
      network: network.network,
      wallet,
      asset: asset.address,
    })
  const alertOf = (wallet: string) => alerts.find((alert) => alert.wallet === wallet)
  return (
    <Card
      action={
        <Button
          busy={isFetching || reading}
          icon={<Icon name="refresh" />}
          onClick={() => void readAgain()}
          size="sm"
          variant="quiet"
        >
          <Trans>Check again</Trans>
        </Button>
      }
      flush
      subtitle={
        data && (
          <Trans>
            Block {data.height}, read <Time at={dataUpdatedAt} look="relative" />
          </Trans>
        )
      }
      title={network.name}
    >
      {error && (
        <Banner className="mx-5 mb-3" role="status" tone="warn">
          {error instanceof RpcError ? error.message : <Trans>Balance unavailable</Trans>}
        </Banner>
      )}
      <ul className="divide-y divide-line border-t border-line">
        {wallets.map((wallet) => (
          <WalletItem
            alert={alertOf(wallet.wallet)}
            figure={(asset) => figure(wallet.wallet, asset)}
            key={wallet.wallet}
            limits={limits.filter((limit) => limit.wallet === wallet.wallet)}
            loading={isPending}
            network={network}
            onAlert={() => setAlertFor(wallet)}
            wallet={wallet}
          />
        ))}
        {wallets.length > 1 && (
          <li className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3 bg-sunken px-5 py-4">
            <h3 className="text-sm font-semibold">
              <Trans>Total</Trans>
            </h3>
            <FigureList
              figure={(asset) => totalOf(wallets.map(({ wallet }) => figure(wallet, asset)))}
              loading={isPending}
              network={network}
            />
          </li>
        )}
      </ul>
      {alertFor && (
        <AlertDialog
          alert={alertOf(alertFor.wallet)}
          network={network}
          onClose={() => setAlertFor(undefined)}
          wallet={alertFor.wallet}
        />
      )}
    </Card>
  )
}

type WalletItemProps = {
  network: Network
  wallet: BalanceWallet
  alert: BalanceAlert | undefined
  limits: readonly HostedWallet[]
  figure: (asset: Asset) => Figure | undefined
  loading: boolean
  onAlert: () => void
}

function WalletItem({ network, wallet, alert, limits, figure, loading, onAlert }: WalletItemProps) {
  const { t } = useLingui()
  const native = nativeAsset(network)
  const stop = wallet.stopped.find((each) => each.network === network.network)
  const balance = figure(native)?.balance
  const isLow = alert && balance !== undefined && balance < BigInt(alert.thresholdAtomic)
  const at = { wallet: wallet.wallet, network: network.network }
  return (
    <li className="px-5 py-4">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h3 className="flex flex-wrap items-center gap-2 text-sm font-semibold [overflow-wrap:anywhere]">
            {wallet.name ?? <Trans>Receiving wallet</Trans>}
            {wallet.managed && <Badge>{t`Managed`}</Badge>}
            {stop && <Badge tone="bad">{t`Stopped`}</Badge>}
            {isLow && <Badge tone="warn">{t`Low balance`}</Badge>}
          </h3>
          <Address copy value={wallet.wallet} />
        </div>
        <FigureList figure={figure} loading={loading} network={network} />
      </div>
      <div className="mt-2 space-y-0.5 text-sm text-muted">
        {stop && <p>{stop.reason}</p>}
        {limits.map((limit) => {
          const asset = findAsset(network, limit.asset)
          return (
            asset && (
              <p key={limit.asset}>
                <HostedCaps asset={asset} wallet={limit} />
              </p>
            )
          )
        })}
        {alert && (
          <p>
            <Trans>
              Alert below{' '}
              <Amount
                atomic={alert.thresholdAtomic}
                decimals={native.decimals}
                symbol={native.symbol}
              />
            </Trans>
          </p>
        )}
      </div>
      <div className="mt-3 flex flex-wrap gap-2">
        <Link
          className={buttonClass({ size: 'sm' })}
          replace
          to={pathTo('balances', { search: at })}
        >
          <Icon name="qr" size={14} />
          <Trans>Top up</Trans>
        </Link>
        <Link
          className={buttonClass({ size: 'sm', variant: 'quiet' })}
          to={pathTo('payments', { search: { q: wallet.wallet, network: network.network } })}
        >
          <Trans>Payments</Trans>
        </Link>
        <ForRole least="operator">
          {limits.length > 0 && (
            <Link
              className={buttonClass({ size: 'sm', variant: 'quiet' })}
              to={pathTo('checkout', { search: { from: at.wallet, network: at.network } })}
            >
              <Trans>Pay from this wallet</Trans>
            </Link>
          )}
          {wallet.managed && (
            <Button onClick={onAlert} size="sm" variant="quiet">
              <Trans>Set alert</Trans>
            </Button>
          )}
        </ForRole>
      </div>
    </li>
  )
}

/** One figure for each asset of the network, below that of the wallet above. */
function FigureList({
  network,
  figure,
  loading,
}: {
  network: Network
  figure: (asset: Asset) => Figure | undefined
  loading: boolean
}) {
  return (
    <dl className="flex flex-col gap-x-8 gap-y-2 max-sm:w-full sm:flex-row sm:flex-wrap sm:justify-end sm:text-end">
      {network.assets.map((asset) => (
        <div
          className="flex flex-wrap items-baseline justify-between gap-x-4 sm:block sm:min-w-40"
          key={asset.address}
        >
          <FigureFact asset={asset} figure={figure(asset)} loading={loading} />
        </div>
      ))}
    </dl>
  )
}

function FigureFact({
  asset,
  figure,
  loading,
}: {
  asset: Asset
  figure: Figure | undefined
  loading: boolean
}) {
  const { decimals, symbol } = asset
  if (!figure)
    return (
      <>
        <dt className="text-xs text-muted">{symbol}</dt>
        <dd className="text-sm">
          {loading ? <Skeleton className="h-5 w-20" /> : <Trans>Balance unavailable</Trans>}
        </dd>
      </>
    )
  const { balance, pending, available } = figure
  return (
    <>
      <dt className="text-xs text-muted">
        {pending === undefined ? <Trans>Balance</Trans> : <Trans>Available</Trans>}
      </dt>
      <dd className="text-end">
        <Amount
          atomic={pending === undefined ? balance : available}
          decimals={decimals}
          size="md"
          symbol={symbol}
        />
        {pending !== undefined && pending > 0n && (
          <span className="block text-xs text-muted">
            <Trans>
              <Amount atomic={balance} decimals={decimals} symbol={symbol} /> less{' '}
              <Amount atomic={pending} decimals={decimals} symbol={symbol} /> pending
            </Trans>
          </span>
        )}
      </dd>
    </>
  )
}
