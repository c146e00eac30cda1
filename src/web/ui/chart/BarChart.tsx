import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useState, type KeyboardEvent, type ReactNode } from 'react'
import { Button } from '../Button.tsx'
import { cx } from '../cx.ts'
import { Icon } from '../Icon.tsx'
import { Table, Td, Th } from '../Table.tsx'
import { barHeight, labelPositions } from './scale.ts'

const fills = {
  received: ['fill-chart-received', 'bg-chart-received'],
  sent: ['fill-chart-sent', 'bg-chart-sent'],
  warn: ['fill-warn-edge', 'bg-warn-edge'],
  bad: ['fill-bad-edge', 'bg-bad-edge'],
} as const

/** One part of every bar, and one column of the table. */
export type Series = {
  name: ReactNode
  /** In the legend, where it says more than the name. */
  legend?: ReactNode
  fill: keyof typeof fills
  /** Below the line; the others are stacked above it, the first one lowest. */
  below?: boolean
}

/** A day or an hour: a value for each series. */
export type Bar = { id: string; name: string; values: readonly bigint[] }

export type BarChartProps = {
  /** What the bars show: "Requests an hour". */
  label: string
  /** Oldest first. */
  bars: readonly Bar[]
  series: readonly Series[]
  /** What a bar stands for, as the heading of its column: "Day (UTC)". */
  unit: ReactNode
  format: (value: bigint) => ReactNode
  /** A bar and its values in one sentence, for screen readers. */
  sentenceOf: (bar: Bar) => string
  /** Beside the legend. */
  note?: ReactNode
}

const HEIGHT = 132
const PLACE = 20
/** Fewer bars are drawn slimmer, in wider places. */
const SLIM_BELOW = 12

/** Figures over time. Arrow keys walk the bars; the same figures are in a table. */
export function BarChart(props: BarChartProps) {
  const { label, bars, series, format, sentenceOf, note } = props
  const [asTable, setAsTable] = useState(false)
  const [at, setAt] = useState<number>()
  const shown = at === undefined ? undefined : bars[at]
  const last = Math.max(0, bars.length - 1)

  function walk(event: KeyboardEvent) {
    const from = at ?? bars.length
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
        <span className="figures flex min-w-0 flex-wrap gap-x-3">
          {shown && <span className="font-medium text-ink">{shown.name}</span>}
          {series.map(({ name, legend = name, fill }, index) =>
            shown ? (
              <span className="*:!text-xs" key={fill}>
                {name} {format(shown.values[index] ?? 0n)}
              </span>
            ) : (
              <span className="inline-flex items-center gap-1.5" key={fill}>
                <span
                  aria-hidden
                  className={cx('forced-fill size-2 rounded-[2px]', fills[fill][1])}
                />{' '}
                {legend}
              </span>
            ),
          )}
          {!shown && note}
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
        <BarTable {...props} />
      ) : (
        <div
          aria-label={t`${label}. Use the arrow keys.`}
          aria-orientation="horizontal"
          aria-valuemax={last}
          aria-valuemin={0}
          aria-valuenow={at ?? last}
          aria-valuetext={shown ? sentenceOf(shown) : t`No bar chosen`}
          className="rounded-md"
          onBlur={() => setAt(undefined)}
          onKeyDown={walk}
          onPointerLeave={() => setAt(undefined)}
          role="slider"
          tabIndex={0}
        >
          <Bars at={at} bars={bars} onPoint={setAt} series={series} />
          <BarNames bars={bars} />
        </div>
      )}
    </div>
  )
}

function BarNames({ bars }: Pick<BarChartProps, 'bars'>) {
  return (
    <div aria-hidden className="figures relative mt-1 h-4 text-xs text-faint">
      {labelPositions(bars.length, 4).map((place, index, all) => (
        <span
          className="absolute whitespace-nowrap"
          key={place}
          style={{
            left: `${((place + 0.5) / bars.length) * 100}%`,
            transform: `translateX(${bars.length < SLIM_BELOW ? '-50%' : index === 0 ? '-0.6em' : index === all.length - 1 ? 'calc(-100% + 0.6em)' : '-50%'})`,
          }}
        >
          {bars[place]?.name}
        </span>
      ))}
    </div>
  )
}

function Bars({
  bars,
  series,
  at,
  onPoint,
}: Pick<BarChartProps, 'bars' | 'series'> & {
  at: number | undefined
  onPoint: (index: number) => void
}) {
  const { line, room, max } = scaleOf(bars, series)
  const gap = bars.length < SLIM_BELOW ? 7 : 3
  return (
    <svg
      aria-hidden
      className="block w-full"
      height={HEIGHT}
      preserveAspectRatio="none"
      viewBox={`0 0 ${Math.max(1, bars.length) * PLACE} ${HEIGHT}`}
    >
      {bars.map(({ id, values }, index) => {
        let top = line
        return (
          <g key={id} onPointerEnter={() => onPoint(index)}>
            <rect
              className={index === at ? 'fill-hover' : 'fill-transparent'}
              height={HEIGHT}
              width={PLACE}
              x={index * PLACE}
              y={0}
            />
            {series.map(({ fill, below }, part) => {
              const height = barHeight(values[part] ?? 0n, max, room)
              if (!below) top -= height
              return (
                <rect
                  className={fills[fill][0]}
                  height={height}
                  key={fill}
                  width={PLACE - 2 * gap}
                  x={index * PLACE + gap}
                  y={below ? line + 1 : top}
                />
              )
            })}
          </g>
        )
      })}
      <line
        className="stroke-edge"
        strokeWidth={1}
        vectorEffect="non-scaling-stroke"
        x1={0}
        x2={Math.max(1, bars.length) * PLACE}
        y1={line + 0.5}
        y2={line + 0.5}
      />
    </svg>
  )
}

/** Where the line is, and how many pixels the largest value gets. */
function scaleOf(bars: readonly Bar[], series: readonly Series[]) {
  const most = (side: boolean) =>
    bars.reduce((peak, { values }) => {
      const sum = sumOf(values.filter((_, part) => Boolean(series[part]?.below) === side))
      return sum > peak ? sum : peak
    }, 0n)
  const [above, below] = [most(false), most(true)]
  const max = above > below ? above : below
  // One scale for both sides: the room is divided as the two maxima are.
  const under =
    below === 0n
      ? 1
      : above === 0n
        ? HEIGHT
        : Math.max(12, Math.round((HEIGHT * Number((below * 1000n) / (below + above))) / 1000))
  const line = HEIGHT - under
  const room = Math.min(
    above > 0n ? line * ratio(max, above) : Infinity,
    below > 0n ? (under - 2) * ratio(max, below) : Infinity,
  )
  return { line, room, max }
}

function ratio(max: bigint, own: bigint): number {
  return Number((max * 1000n) / own) / 1000
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n)
}

function BarTable({ label, bars, series, unit, format }: BarChartProps) {
  return (
    <div aria-label={label} className="-mx-5 max-h-64 overflow-y-auto" role="group" tabIndex={0}>
      <Table caption={label}>
        <thead>
          <tr>
            <Th>{unit}</Th>
            {series.map(({ fill, name }) => (
              <Th end key={fill}>
                {name}
              </Th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars
            .filter(({ values }) => sumOf(values) > 0n)
            .toReversed()
            .map(({ id, name, values }) => (
              <tr key={id}>
                <Td>{name}</Td>
                {series.map(({ fill }, part) => (
                  <Td className="figures" end key={fill}>
                    {format(values[part] ?? 0n)}
                  </Td>
                ))}
              </tr>
            ))}
        </tbody>
      </Table>
    </div>
  )
}
