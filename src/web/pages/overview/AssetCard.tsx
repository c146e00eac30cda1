import { Plural, Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { AssetSummary } from '#contract/payment-endpoints.ts'
import { useConfig } from '../../api/use-config.ts'
import { formatNumber } from '../../locales/formats.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { Tooltip } from '../../ui/Tooltip.tsx'
import { BarChart, type Series } from '../../ui/chart/BarChart.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import { formatDay, formatDuration } from '../../ui/format-time.ts'
import { assetNameIn, byUse, changeOf, findChosen, netOf } from './flows.ts'

/** More tabs than that are a list to choose from. */
const MOST_TABS = 4

/** The figures of one asset at a time: amounts of different assets are never added up. */
export function AssetCard({ assets: unsorted }: { assets: readonly AssetSummary[] }) {
  const search = useSearch('overview')
  const assets = byUse(unsorted)
  const asset = findChosen(assets, search)
  if (!asset) return null
  return (
    <Card>
      {assets.length > 1 && (
        <AssetTabs
          assets={assets}
          chosen={asset}
          onChoose={(next) =>
            navigate(
              pathTo('overview', {
                search: { ...search, network: next.network, asset: assetNameIn(assets, next) },
              }),
              { replace: true },
            )
          }
        />
      )}
      <AssetFigures asset={asset} days={asset.days.length} />
      <Days
        asset={asset}
        key={`${asset.network} ${asset.asset}`}
        name={assetNameIn(assets, asset)}
      />
    </Card>
  )
}

type AssetTabsProps = {
  assets: readonly AssetSummary[]
  chosen: AssetSummary
  onChoose: (asset: AssetSummary) => void
}

function AssetTabs({ assets, chosen, onChoose }: AssetTabsProps) {
  const { t } = useLingui()
  const { networks } = useConfig()
  const options = assets.map(({ network, symbol }, index) => {
    const name = networks.find((each) => each.network === network)?.name ?? network
    return { value: String(index), label: t`${symbol} on ${name}` }
  })
  const choose = (value: string) => {
    const asset = assets[Number(value)]
    if (asset) onChoose(asset)
  }
  const value = String(assets.indexOf(chosen))
  return (
    <div className="mb-5">
      {assets.length > MOST_TABS ? (
        <Select
          aria-label={t`Asset`}
          className="w-fit max-w-full"
          onChange={(event) => choose(event.target.value)}
          value={value}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </Select>
      ) : (
        <Segmented label={t`Asset`} onChange={choose} options={options} value={value} />
      )}
    </div>
  )
}

/** Figures that add up: net is the first less the others. Each beside the same number of days before. */
function AssetFigures({ asset, days }: { asset: AssetSummary; days: number }) {
  const { t } = useLingui()
  const { networks } = useConfig()
  const { symbol, endedCount, paidCount, previous } = asset
  const name = networks.find(({ network }) => network === asset.network)?.name ?? asset.network
  const { refundsReceivedCount, feesAtomic } = asset
  const sums = (field: Exclude<keyof typeof previous, number>) => ({
    now: BigInt(asset[field]),
    before: BigInt(previous[field]),
  })
  return (
    <>
      <h2 className="sr-only">
        <Trans>
          {symbol} on {name}
        </Trans>
      </h2>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-5 text-sm sm:grid-cols-3 sm:gap-x-6">
        <MoneyFigure
          {...sums('receivedAtomic')}
          asset={asset}
          name={<Trans>Received</Trans>}
          note={<Count total={asset.receivedCount} />}
        />
        <MoneyFigure
          {...sums('sentAtomic')}
          asset={asset}
          name={<Trans context="money">Sent</Trans>}
          note={<Count total={asset.sentCount} />}
        />
        <MoneyFigure
          {...sums('refundedAtomic')}
          asset={asset}
          name={<Trans>Refunded</Trans>}
          note={<Count total={asset.refundedCount} />}
        />
        {(refundsReceivedCount > 0 || previous.refundsReceivedAtomic !== '0') && (
          <MoneyFigure
            {...sums('refundsReceivedAtomic')}
            asset={asset}
            name={<Trans>Refunds received</Trans>}
            note={<Count total={refundsReceivedCount} />}
          />
        )}
        {(feesAtomic !== '0' || previous.feesAtomic !== '0' || isNative(networks, asset)) && (
          <MoneyFigure
            {...sums('feesAtomic')}
            asset={asset}
            name={
              <>
                <Trans>Network fees</Trans>
                <Tooltip label={t`About this figure`}>
                  <Trans>For your payments in any asset.</Trans>
                </Tooltip>
              </>
            }
          />
        )}
        <MoneyFigure
          asset={asset}
          before={netOf(previous)}
          name={<Trans>Net</Trans>}
          now={netOf(asset)}
        />
        <Figure
          name={
            <>
              <Trans>Success rate</Trans>
              <Tooltip label={t`About this figure`}>
                <Trans>Share of ended payments that succeeded.</Trans>
              </Tooltip>
            </>
          }
          note={<Plural one="of # payment" other="of # payments" value={endedCount} />}
        >
          {endedCount === 0 ? (
            <NoFigure />
          ) : (
            <span className="figures">{formatShare(paidCount, endedCount)}</span>
          )}
        </Figure>
        <Figure
          name={
            <>
              <Trans>Confirmed in</Trans>
              <Tooltip label={t`About this figure`}>
                <Trans>From broadcast to confirmation.</Trans>
              </Tooltip>
            </>
          }
          note={asset.medianConfirmMs === null ? undefined : <Trans>median</Trans>}
        >
          {asset.medianConfirmMs === null ? (
            <NoFigure />
          ) : (
            <span className="figures">{formatDuration(asset.medianConfirmMs)}</span>
          )}
        </Figure>
      </dl>
      <p className="mt-4 text-xs text-muted">
        <Plural
          one="Compared with the day before. Today is incomplete."
          other="Compared with the # days before. Today is incomplete."
          value={days}
        />
      </p>
    </>
  )
}

function isNative(
  networks: readonly { network: string; assets: readonly { address: string; native: boolean }[] }[],
  { network, asset }: AssetSummary,
): boolean {
  return networks.some(
    (each) =>
      each.network === network &&
      each.assets.some(({ address, native }) => native && address === asset),
  )
}

type MoneyFigureProps = {
  asset: AssetSummary
  name: ReactNode
  note?: ReactNode
  now: bigint
  before: bigint
}

function MoneyFigure({ asset, name, note, now, before }: MoneyFigureProps) {
  return (
    <Figure
      name={name}
      note={
        <>
          {note}
          <Change asset={asset} before={before} now={now} />
        </>
      }
    >
      {/* On a phone the unit of a long figure goes to a second line. */}
      <Signed
        asset={asset}
        atomic={now}
        className="!text-lg font-semibold tracking-tight !whitespace-normal [overflow-wrap:anywhere] sm:!text-xl"
      />
    </Figure>
  )
}

/** What the figure was in the days before, and by how much it changed. */
function Change({ asset, now, before }: { asset: AssetSummary; now: bigint; before: bigint }) {
  const change = changeOf(now, before)
  if (change === undefined) {
    return (
      now !== 0n && (
        <span className="block">
          <Trans>Nothing before</Trans>
        </span>
      )
    )
  }
  const share = formatNumber(change, {
    style: 'percent',
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  })
  return (
    <span className="block">
      <Trans>
        <span className="figures text-ink">{share}</span> from{' '}
        <Signed asset={asset} atomic={before} className="!text-xs" />
      </Trans>
    </span>
  )
}

type SignedProps = { asset: AssetSummary; atomic: bigint; className: string }

function Signed({ asset: { decimals, symbol }, atomic, className }: SignedProps) {
  return (
    <span className={className}>
      {atomic < 0n && '−'}
      <Amount
        atomic={atomic < 0n ? -atomic : atomic}
        className={className}
        decimals={decimals}
        symbol={symbol}
      />
    </span>
  )
}

/** Received above the line, sent and refunded below it. A day leads to its payments. */
function Days({ asset, name }: { asset: AssetSummary; name: string }) {
  const { t } = useLingui()
  const { networks } = useConfig()
  const hidden = usePreferences().hideAmounts
  const { symbol, decimals, network } = asset
  const networkName = networks.find((each) => each.network === network)?.name ?? network
  const all: (Series & {
    field: 'receivedAtomic' | 'refundsReceivedAtomic' | 'sentAtomic' | 'refundedAtomic'
  })[] = [
    { field: 'receivedAtomic', name: <Trans>Received</Trans>, fill: 'received' },
    {
      field: 'refundsReceivedAtomic',
      name: <Trans>Refunds received</Trans>,
      fill: 'returned',
    },
    {
      field: 'sentAtomic',
      name: <Trans context="money">Sent</Trans>,
      fill: 'sent',
      below: true,
    },
    {
      field: 'refundedAtomic',
      name: <Trans>Refunded</Trans>,
      fill: 'warn',
      below: true,
    },
  ]
  const series = all.filter(({ field }) => field === 'receivedAtomic' || asset[field] !== '0')
  const plain = (atomic = 0n) => `${formatAmountText(atomic, decimals).text} ${symbol}`
  return (
    <div className="mt-5">
      <BarChart
        bars={asset.days.map((day) => ({
          id: day.day,
          name: formatDay(day.day),
          values: series.map(({ field }) => BigInt(day[field])),
        }))}
        renderValue={(atomic) => <Amount atomic={atomic} decimals={decimals} symbol={symbol} />}
        label={t`${symbol} on ${{ name: networkName }}`}
        pathOf={({ id }) =>
          pathTo('payments', {
            search: {
              from: id,
              to: id,
              zone: 'utc',
              network,
              asset: name,
              status: 'confirmed,finalized',
            },
          })
        }
        sentenceOf={({ name: day, values }) => {
          if (hidden) return t`${day}, amounts hidden`
          const of = (field: string) =>
            plain(values[series.findIndex((each) => each.field === field)])
          const [received, sent, refunded] = [
            of('receivedAtomic'),
            of('sentAtomic'),
            of('refundedAtomic'),
          ]
          return t`${day}: received ${received}, sent ${sent}, refunded ${refunded}`
        }}
        series={series}
        tick={(atomic) => (hidden ? '••••' : shortAmount(atomic, decimals))}
        unit={<Trans>Day (UTC)</Trans>}
      />
    </div>
  )
}

/** Ticks are round numbers: zeros after the point would only take room. */
function shortAmount(atomic: bigint, decimals: number): string {
  return formatAmountText(atomic, decimals, { exact: true }).text
}

type FigureProps = { name: ReactNode; note?: ReactNode; children: ReactNode }

function Figure({ name, note, children }: FigureProps) {
  return (
    <div className="min-w-0">
      <dt className="text-muted">{name}</dt>
      <dd className="text-lg font-semibold tracking-tight sm:text-xl">{children}</dd>
      {note && <dd className="text-xs text-muted">{note}</dd>}
    </div>
  )
}

function NoFigure() {
  return (
    <span className="text-sm font-normal tracking-normal text-muted">
      <Trans>Nothing yet</Trans>
    </span>
  )
}

function Count({ total }: { total: number }) {
  return <Plural one="# payment" other="# payments" value={total} />
}

/** All of them is told only when it is all of them. */
function formatShare(part: number, whole: number): string {
  const share = part === whole ? 1 : Math.min(part / whole, 0.999)
  return formatNumber(share, { style: 'percent', maximumFractionDigits: 1 })
}
