import { Plural, Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { AssetSummary } from '#contract/payment-endpoints.ts'
import { formatNumber } from '../../locales/formats.ts'
import { useNetwork } from '../../api/use-config.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Card } from '../../ui/Card.tsx'
import { DayBars } from '../../ui/chart/DayBars.tsx'
import { formatDuration } from '../../ui/format-time.ts'
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
                <Tooltip label={t`What does this share say?`}>
                  <Trans>
                    Of the payments that came to an end, how many arrived. The others expired
                    unsigned, failed, or were taken back by the network.
                  </Trans>
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
          <DayBars
            days={asset.days.map(({ day, receivedAtomic, sentAtomic }) => ({
              day,
              receivedAtomic: BigInt(receivedAtomic),
              sentAtomic: BigInt(sentAtomic),
            }))}
            label={t`${symbol} a day on ${networkName}`}
            {...money}
          />
        </div>
      )}
    </Card>
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
      <Trans>No figure yet</Trans>
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
