import type { ReactNode } from 'react'
import type { AssetSummary } from '#contract/payment-endpoints.ts'
import { useNetwork } from '../../shell/use-config.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { DayBars } from '../../ui/chart/DayBars.tsx'
import { formatDuration } from '../../ui/format-time.ts'

/** One asset on one network. Figures of different assets never meet. */
export function AssetCard({ asset }: { asset: AssetSummary }) {
  const network = useNetwork(asset.network)
  const { symbol, decimals } = asset
  const received = BigInt(asset.receivedAtomic)
  const sent = BigInt(asset.sentAtomic)
  const money = { decimals, symbol }
  const networkName = network?.name ?? asset.network
  return (
    <Card>
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
        <div>
          <h2 className="text-sm font-medium text-muted">
            {symbol} received <span className="font-normal">on {networkName}</span>
          </h2>
          <p className="mt-1">
            <Amount atomic={received} size="lg" {...money} className="!text-3xl" />
          </p>
          <p className="mt-0.5 text-sm text-muted">{countWords(asset.receivedCount)}</p>
        </div>
        <dl className="grid grid-cols-2 gap-x-8 gap-y-3 text-sm sm:grid-cols-[repeat(3,minmax(112px,auto))] sm:gap-x-4">
          <Figure name="Sent" note={countWords(asset.sentCount)}>
            <Amount atomic={sent} {...money} />
          </Figure>
          <Figure name="Net">
            {received < sent && '−'}
            <Amount atomic={received > sent ? received - sent : sent - received} {...money} />
          </Figure>
          <Figure name="Confirmed in" note={asset.medianConfirmMs === null ? undefined : 'median'}>
            {asset.medianConfirmMs === null ? (
              <span className="text-muted">No figure yet</span>
            ) : (
              <span className="figures">{formatDuration(asset.medianConfirmMs)}</span>
            )}
          </Figure>
        </dl>
      </div>
      <div className="mt-4">
        <DayBars
          days={asset.days.map(({ day, receivedAtomic, sentAtomic }) => ({ day, receivedAtomic: BigInt(receivedAtomic), sentAtomic: BigInt(sentAtomic) }))}
          label={`${symbol} a day on ${networkName}`}
          {...money}
        />
      </div>
    </Card>
  )
}

function Figure({ name, note, children }: { name: string; note?: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="font-medium">{children}</dd>
      {note && <dd className="text-xs text-muted">{note}</dd>}
    </div>
  )
}

function countWords(count: number): string {
  return count === 1 ? '1 payment' : `${count.toLocaleString()} payments`
}
