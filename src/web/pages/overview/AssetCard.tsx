import { Plural, Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { AssetSummary } from '#contract/payment-endpoints.ts'
import { formatNumber } from '../../locales/formats.ts'
import { useNetwork } from '../../api/use-config.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { usePreferences } from '../../local-data/preferences.ts'
import { BarChart } from '../../ui/chart/BarChart.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import { formatDay, formatDuration } from '../../ui/format-time.ts'
import { Tooltip } from '../../ui/Tooltip.tsx'

/** One asset on one network. Figures of different assets never meet. */
export function AssetCard({ asset }: { asset: AssetSummary }) {
  const { t } = useLingui()
  const network = useNetwork(asset.network)
  const { symbol, decimals, endedCount, paidCount } = asset
  const received = BigInt(asset.receivedAtomic)
  const sent = BigInt(asset.sentAtomic)
  const money = { decimals, symbol }
  const networkName = network?.name ?? asset.network
  return (
    <Card>
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
        <div>
          <h2 className="text-sm font-medium text-muted">
            <Trans>
              {symbol} received <span className="font-normal">on {networkName}</span>
            </Trans>
          </h2>
          <p className="mt-1">
            <Amount atomic={received} size="lg" {...money} className="!text-3xl" />
          </p>
          <p className="mt-0.5 text-sm text-muted">
            <Count count={asset.receivedCount} />
          </p>
        </div>
        <dl className="grid grid-cols-2 gap-x-8 gap-y-3 text-sm sm:grid-cols-[repeat(4,minmax(100px,auto))] sm:gap-x-5">
          <Figure
            name={<Trans context="money">Sent</Trans>}
            note={<Count count={asset.sentCount} />}
          >
            <Amount atomic={sent} {...money} />
          </Figure>
          <Figure name={<Trans>Net</Trans>}>
            {received < sent && '−'}
            <Amount atomic={received > sent ? received - sent : sent - received} {...money} />
          </Figure>
          <Figure
            name={
              <>
                <Trans>Paid</Trans>
                <Tooltip label={t`About this figure`}>
                  <Trans>Share of closed payments that succeeded.</Trans>
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
            name={<Trans>Confirmed in</Trans>}
            note={asset.medianConfirmMs === null ? undefined : <Trans>median</Trans>}
          >
            {asset.medianConfirmMs === null ? (
              <NoFigure />
            ) : (
              <span className="figures">{formatDuration(asset.medianConfirmMs)}</span>
            )}
          </Figure>
        </dl>
      </div>
      {(received > 0n || sent > 0n) && (
        <div className="mt-4">
          <Days asset={asset} label={t`${symbol} a day on ${networkName}`} />
        </div>
      )}
    </Card>
  )
}

/** Received above the line, sent below it. */
function Days({ asset, label }: { asset: AssetSummary; label: string }) {
  const { t } = useLingui()
  const hidden = usePreferences().hideAmounts
  const { symbol, decimals } = asset
  const bars = asset.days.map(({ day, receivedAtomic, sentAtomic }) => ({
    id: day,
    name: formatDay(day),
    values: [BigInt(receivedAtomic), BigInt(sentAtomic)],
  }))
  const anySent = bars.some(({ values: [, sent = 0n] }) => sent > 0n)
  const peak = bars.reduce(
    (most, { values: [received = 0n] }) => (received > most ? received : most),
    0n,
  )
  const amount = (atomic: bigint) => <Amount atomic={atomic} decimals={decimals} symbol={symbol} />
  const plain = (atomic = 0n) => `${formatAmountText(atomic, decimals).text} ${symbol}`
  return (
    <BarChart
      bars={bars}
      format={amount}
      label={label}
      note={
        peak > 0n && (
          <span>
            <Trans>
              Peak day{' '}
              <Amount atomic={peak} className="!text-xs" decimals={decimals} symbol={symbol} />
            </Trans>
          </span>
        )
      }
      sentenceOf={({ name, values }) => {
        if (hidden) return t`${name}, amounts hidden`
        const [received, sent] = [plain(values[0]), plain(values[1])]
        return t`${name}: received ${received}, sent ${sent}`
      }}
      series={[
        {
          name: <Trans>Received</Trans>,
          fill: 'received',
          ...(anySent && { legend: <Trans>Received, above</Trans> }),
        },
        ...(anySent
          ? [
              {
                name: <Trans context="money">Sent</Trans>,
                legend: <Trans>Sent, below</Trans>,
                fill: 'sent' as const,
                below: true,
              },
            ]
          : []),
      ]}
      unit={<Trans>Day (UTC)</Trans>}
    />
  )
}

function Figure({
  name,
  note,
  children,
}: {
  name: ReactNode
  note?: ReactNode
  children: ReactNode
}) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="font-medium">{children}</dd>
      {note && <dd className="text-xs text-muted">{note}</dd>}
    </div>
  )
}

function NoFigure() {
  return (
    <span className="text-muted">
      <Trans>No figures yet</Trans>
    </span>
  )
}

function Count({ count }: { count: number }) {
  return <Plural one="# payment" other="# payments" value={count} />
}

/** All of them is told only when it is all of them. */
function formatShare(part: number, whole: number): string {
  const share = part === whole ? 1 : Math.min(part / whole, 0.999)
  return formatNumber(share, { style: 'percent', maximumFractionDigits: 1 })
}
