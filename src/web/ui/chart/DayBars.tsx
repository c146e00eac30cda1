import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useId, useState, type KeyboardEvent } from 'react'
import { Amount } from '../Amount.tsx'
import { Button } from '../Button.tsx'
import { formatAmountText } from '../format-amount.ts'
import { formatDay } from '../format-time.ts'
import { Icon } from '../Icon.tsx'
import { Table, Td, Th } from '../Table.tsx'
import { usePreferences } from '../../local-data/preferences.ts'
import { barHeight, labelPositions } from './scale.ts'

export type DayFigures = {
  /** `2026-11-21`, UTC. */
  day: string
  receivedAtomic: bigint
  sentAtomic: bigint
}

export type DayBarsProps = {
  /** What the bars show: "ETH a day on Sepolia". */
  label: string
  days: readonly DayFigures[]
  decimals: number
  symbol: string
}

const HEIGHT = 132
const PLACE = 20
/** Fewer days are drawn as slimmer bars in wider places. */
const SLIM_BELOW = 12

/** Received above the line, sent below it. Arrow keys walk the days; the same figures stand in a table. */
export function DayBars({ label, days, decimals, symbol }: DayBarsProps) {
  const [asTable, setAsTable] = useState(false)
  const [at, setAt] = useState<number>()
  const hintId = useId()
  const hidden = usePreferences().hideAmounts
  const shown = at === undefined ? undefined : days[at]
  const peak = days.reduce(
    (most, { receivedAtomic }) => (receivedAtomic > most ? receivedAtomic : most),
    0n,
  )
  const anySent = days.some((day) => day.sentAtomic > 0n)

  function walk(event: KeyboardEvent) {
    const last = days.length - 1
    const from = at ?? last + 1
    const to = {
      ArrowLeft: from - 1,
      ArrowDown: from - 1,
      ArrowRight: from + 1,
      ArrowUp: from + 1,
      Home: 0,
      End: last,
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setAt(Math.max(0, Math.min(last, to)))
  }

  return (
    <div>
      <div className="mb-2 flex min-h-8 items-center justify-between gap-3 text-xs text-muted">
        <span className="figures flex min-w-0 flex-wrap gap-x-3" id={hintId}>
          {shown ? (
            <>
              <span className="font-medium text-ink">{formatDay(shown.day)}</span>
              <span>
                <Trans>
                  Received{' '}
                  <Amount
                    atomic={shown.receivedAtomic}
                    className="!text-xs"
                    decimals={decimals}
                    symbol={symbol}
                  />
                </Trans>
              </span>
              {anySent && (
                <span>
                  <Trans>
                    Sent{' '}
                    <Amount
                      atomic={shown.sentAtomic}
                      className="!text-xs"
                      decimals={decimals}
                      symbol={symbol}
                    />
                  </Trans>
                </span>
              )}
            </>
          ) : (
            <>
              <Legend anySent={anySent} />
              {peak > 0n && (
                <span>
                  <Trans>
                    Most in a day{' '}
                    <Amount
                      atomic={peak}
                      className="!text-xs"
                      decimals={decimals}
                      symbol={symbol}
                    />
                  </Trans>
                </span>
              )}
            </>
          )}
        </span>
        <Button
          className="-me-2.5"
          icon={<Icon name={asTable ? 'bars' : 'table'} size={14} />}
          onClick={() => setAsTable(!asTable)}
          size="sm"
          variant="quiet"
        >
          {asTable ? <Trans>Show bars</Trans> : <Trans>Show table</Trans>}
        </Button>
      </div>
      {asTable ? (
        <DayTable days={days} decimals={decimals} label={label} symbol={symbol} />
      ) : (
        <div
          aria-label={t`${label}. Arrow keys walk the days.`}
          aria-orientation="horizontal"
          aria-valuemax={days.length - 1}
          aria-valuemin={0}
          aria-valuenow={at ?? days.length - 1}
          aria-valuetext={
            shown ? sentenceOf(shown, { decimals, symbol, hidden }) : t`No day chosen`
          }
          className="rounded-md"
          onBlur={() => setAt(undefined)}
          onKeyDown={walk}
          onPointerLeave={() => setAt(undefined)}
          role="slider"
          tabIndex={0}
        >
          <Bars at={at} days={days} onPoint={setAt} />
          <DayLabels days={days} />
        </div>
      )}
    </div>
  )
}

function DayLabels({ days }: Pick<DayBarsProps, 'days'>) {
  return (
    <div aria-hidden className="figures relative mt-1 h-4 text-xs text-faint">
      {labelPositions(days.length, 4).map((place, index, all) => (
        <span
          className="absolute whitespace-nowrap"
          key={place}
          style={{
            left: `${((place + 0.5) / days.length) * 100}%`,
            transform: `translateX(${days.length < SLIM_BELOW ? '-50%' : index === 0 ? '-0.6em' : index === all.length - 1 ? 'calc(-100% + 0.6em)' : '-50%'})`,
          }}
        >
          {formatDay(days[place]?.day ?? '')}
        </span>
      ))}
    </div>
  )
}

function Bars({
  days,
  at,
  onPoint,
}: {
  days: readonly DayFigures[]
  at: number | undefined
  onPoint: (index: number) => void
}) {
  const maxReceived = days.reduce(
    (max, day) => (day.receivedAtomic > max ? day.receivedAtomic : max),
    0n,
  )
  const maxSent = days.reduce((max, day) => (day.sentAtomic > max ? day.sentAtomic : max), 0n)
  const max = maxReceived > maxSent ? maxReceived : maxSent
  // One scale for both sides: the room is divided as the two maxima are.
  const below =
    maxSent === 0n
      ? 0
      : maxReceived === 0n
        ? HEIGHT
        : Math.max(
            12,
            Math.round((HEIGHT * Number((maxSent * 1000n) / (maxSent + maxReceived))) / 1000),
          )
  const line = HEIGHT - below
  const room = Math.min(
    maxReceived > 0n ? line * ratio(max, maxReceived) : Infinity,
    maxSent > 0n ? (below - 2) * ratio(max, maxSent) : Infinity,
  )
  const gap = days.length < SLIM_BELOW ? 7 : 3
  return (
    <svg
      aria-hidden
      className="block w-full"
      height={HEIGHT}
      preserveAspectRatio="none"
      viewBox={`0 0 ${days.length * PLACE} ${HEIGHT}`}
    >
      {days.map((day, index) => {
        const up = barHeight(day.receivedAtomic, max, room)
        const down = barHeight(day.sentAtomic, max, room)
        const x = index * PLACE
        return (
          <g key={day.day} onPointerEnter={() => onPoint(index)}>
            <rect
              className={index === at ? 'fill-hover' : 'fill-transparent'}
              height={HEIGHT}
              width={PLACE}
              x={x}
              y={0}
            />
            {up > 0 && (
              <rect
                className="fill-chart-received"
                height={up}
                width={PLACE - 2 * gap}
                x={x + gap}
                y={line - up}
              />
            )}
            {down > 0 && (
              <rect
                className="fill-chart-sent"
                height={down}
                width={PLACE - 2 * gap}
                x={x + gap}
                y={line + 1}
              />
            )}
          </g>
        )
      })}
      <line
        className="stroke-edge"
        strokeWidth={1}
        vectorEffect="non-scaling-stroke"
        x1={0}
        x2={days.length * PLACE}
        y1={line + 0.5}
        y2={line + 0.5}
      />
    </svg>
  )
}

function ratio(max: bigint, own: bigint): number {
  return Number((max * 1000n) / own) / 1000
}

function Legend({ anySent }: { anySent: boolean }) {
  return (
    <>
      <span className="inline-flex items-center gap-1.5">
        <span aria-hidden className="forced-fill size-2 rounded-[2px] bg-chart-received" />{' '}
        {anySent ? <Trans>Received, above</Trans> : <Trans>Received</Trans>}
      </span>
      {anySent && (
        <span className="inline-flex items-center gap-1.5">
          <span aria-hidden className="forced-fill size-2 rounded-[2px] bg-chart-sent" />{' '}
          <Trans>Sent, below</Trans>
        </span>
      )}
    </>
  )
}

function DayTable({ label, days, decimals, symbol }: DayBarsProps) {
  const moved = days.filter((day) => day.receivedAtomic > 0n || day.sentAtomic > 0n).toReversed()
  return (
    <div className="-mx-5 max-h-64 overflow-y-auto" tabIndex={0} role="group" aria-label={label}>
      <Table caption={label}>
        <thead>
          <tr>
            <Th>
              <Trans>Day (UTC)</Trans>
            </Th>
            <Th end>
              <Trans>Received</Trans>
            </Th>
            <Th end>
              <Trans context="money">Sent</Trans>
            </Th>
          </tr>
        </thead>
        <tbody>
          {moved.map((day) => (
            <tr key={day.day}>
              <Td>{formatDay(day.day)}</Td>
              <Td end>
                <Amount atomic={day.receivedAtomic} decimals={decimals} symbol={symbol} />
              </Td>
              <Td end>
                <Amount atomic={day.sentAtomic} decimals={decimals} symbol={symbol} />
              </Td>
            </tr>
          ))}
        </tbody>
      </Table>
    </div>
  )
}

function sentenceOf(
  day: DayFigures,
  { decimals, symbol, hidden }: { decimals: number; symbol: string; hidden: boolean },
): string {
  const name = formatDay(day.day)
  if (hidden) return t`${name}, amounts hidden`
  const text = (atomic: bigint) => `${formatAmountText(atomic, decimals).text} ${symbol}`
  const received = text(day.receivedAtomic)
  const sent = text(day.sentAtomic)
  return t`${name}: received ${received}, sent ${sent}`
}
