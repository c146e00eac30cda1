import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useState, type KeyboardEvent, type ReactNode } from 'react'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { Button } from '../Button.tsx'
import { Icon } from '../Icon.tsx'
import { Table, Td, Th } from '../Table.tsx'
import { cx } from '../button-class.ts'

const fills = {
  received: ['fill-chart-received', 'bg-chart-received'],
  sent: ['fill-chart-sent', 'bg-chart-sent'],
  warn: ['fill-warn-edge', 'bg-warn-edge'],
  bad: ['fill-bad-edge', 'bg-bad-edge'],
  returned: ['fill-edge', 'bg-edge'],
} as const

/** One part of every bar, and one column of the table. */
export type Series = {
  name: ReactNode
  fill: keyof typeof fills
  /** Below the line; the others are above it. On each side they are stacked, the first one next to the line. */
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
  renderValue: (value: bigint) => ReactNode
  /** A value of the axis, without its unit. */
  tick: (value: bigint) => string
  /** What a bar leads to: with a click, Enter, or the link in the table. */
  pathOf?: (bar: Bar) => string
  /** A bar and its values in one sentence, for screen readers. */
  sentenceOf: (bar: Bar) => string
  /** Beside the legend. */
  note?: ReactNode
}

const HEIGHT = 160
const PLACE = 20
/** Fewer bars are drawn slimmer, in wider places. */
const SLIM_BELOW = 12

/** Figures over time. Arrow keys walk the bars, Enter opens one; the same figures are in a table. */
export function BarChart(props: BarChartProps) {
  const { label, bars, series, renderValue, sentenceOf, note, pathOf, tick } = props
  const [asTable, setAsTable] = useState(false)
  const [at, setAt] = useState<number>()
  const shown = at === undefined ? undefined : bars[at]
  const last = Math.max(0, bars.length - 1)

  const axis = scaleOf(bars, series)

  function open(index: number | undefined) {
    const bar = index === undefined ? undefined : bars[index]
    if (bar && pathOf) navigate(pathOf(bar))
  }

  function walk(event: KeyboardEvent) {
    if (event.key === 'Enter') return open(at)
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
          {series.map(({ name, fill }, index) =>
            shown ? (
              <span className="*:!text-xs" key={fill}>
                {name} {renderValue(shown.values[index] ?? 0n)}
              </span>
            ) : (
              <span className="inline-flex items-center gap-1.5" key={fill}>
                <span
                  aria-hidden
                  className={cx('forced-fill size-2 rounded-[2px]', fills[fill][1])}
                />{' '}
                {name}
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
        <div className="flex gap-2">
          <Ticks axis={axis} tick={tick} />
          <div
            aria-label={pathOf ? t`${label}. Enter shows the payments.` : label}
            aria-orientation="horizontal"
            aria-valuemax={last}
            aria-valuemin={0}
            aria-valuenow={at ?? last}
            aria-valuetext={shown ? sentenceOf(shown) : t`No bar chosen`}
            className="min-w-0 flex-1 rounded-md"
            onBlur={() => setAt(undefined)}
            onKeyDown={walk}
            onPointerLeave={() => setAt(undefined)}
            role="slider"
            tabIndex={0}
          >
            <Bars
              at={at}
              axis={axis}
              bars={bars}
              onOpen={pathOf && open}
              onPoint={setAt}
              series={series}
            />
            <BarNames bars={bars} />
          </div>
        </div>
      )}
    </div>
  )
}

/** The values of the gridlines, beside them. */
function Ticks({ axis, tick }: Pick<BarChartProps, 'tick'> & { axis: Axis }) {
  const ticks = gridlines(axis).map((value) => ({
    id: value.toString(),
    text: `${value < 0n ? '−' : ''}${tick(value < 0n ? -value : value)}`,
    y: placeOf(value, axis),
  }))
  return (
    <div aria-hidden className="figures relative shrink-0 text-end text-xs text-faint">
      {ticks.map(({ id, text, y }) => (
        <span className="absolute end-0 -translate-y-1/2" key={id} style={{ top: y }}>
          {text}
        </span>
      ))}
      {/* Takes the width of the widest. */}
      {ticks.map(({ id, text }) => (
        <span className="invisible block h-0 overflow-hidden" key={id}>
          {text}
        </span>
      ))}
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

type BarsProps = Pick<BarChartProps, 'bars' | 'series'> & {
  axis: Axis
  at: number | undefined
  onPoint: (index: number) => void
  onOpen: ((index: number) => void) | undefined
}

function Bars({ bars, series, axis, at, onPoint, onOpen }: BarsProps) {
  const gap = bars.length < SLIM_BELOW ? 7 : 3
  const line = placeOf(0n, axis)
  const width = Math.max(1, bars.length) * PLACE
  const span = axis.top + axis.bottom
  return (
    <svg
      aria-hidden
      className="block w-full overflow-visible"
      height={HEIGHT}
      preserveAspectRatio="none"
      viewBox={`0 0 ${width} ${HEIGHT}`}
    >
      {gridlines(axis).map((value) => (
        <line
          className={value === 0n ? 'stroke-edge' : 'stroke-line'}
          key={value.toString()}
          strokeWidth={1}
          vectorEffect="non-scaling-stroke"
          x1={0}
          x2={width}
          y1={placeOf(value, axis)}
          y2={placeOf(value, axis)}
        />
      ))}
      {bars.map(({ id, values }, index) => {
        let [top, bottom] = [line, line]
        return (
          <g
            className={onOpen && 'cursor-pointer'}
            key={id}
            onClick={() => onOpen?.(index)}
            onPointerEnter={() => onPoint(index)}
          >
            <rect
              className={index === at ? 'fill-hover' : 'fill-transparent'}
              height={HEIGHT}
              width={PLACE}
              x={index * PLACE}
              y={0}
            />
            {series.map(({ fill, below }, part) => {
              const height = barHeight(values[part] ?? 0n, span, HEIGHT)
              if (below) bottom += height
              else top -= height
              return (
                <rect
                  className={fills[fill][0]}
                  height={height}
                  key={fill}
                  width={PLACE - 2 * gap}
                  x={index * PLACE + gap}
                  y={below ? bottom - height : top}
                />
              )
            })}
          </g>
        )
      })}
    </svg>
  )
}

/** One scale for both sides of the line. */
function scaleOf(bars: readonly Bar[], series: readonly Series[]): Axis {
  const most = (side: boolean) =>
    bars.reduce((peak, { values }) => {
      const sum = sumOf(values.filter((_, part) => Boolean(series[part]?.below) === side))
      return sum > peak ? sum : peak
    }, 0n)
  return axisOf(most(false), most(true))
}

/** Pixels from the top. */
function placeOf(value: bigint, { top, bottom }: Axis): number {
  return shareOf(top - value, top + bottom) * HEIGHT
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n)
}

function BarTable({ label, bars, series, unit, renderValue, pathOf }: BarChartProps) {
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
          {bars.toReversed().map((bar) => (
            <tr key={bar.id}>
              <Td>
                {pathOf ? (
                  <Link className="underline decoration-edge underline-offset-4" to={pathOf(bar)}>
                    {bar.name}
                  </Link>
                ) : (
                  bar.name
                )}
              </Td>
              {series.map(({ fill }, part) => (
                <Td className="figures" end key={fill}>
                  {renderValue(bar.values[part] ?? 0n)}
                </Td>
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
    </div>
  )
}

/** Share of `max` that `value` is, from 0 to 1, to four digits. Amounts stay whole until here: a bar needs no more. */
export function shareOf(value: bigint, max: bigint): number {
  return max > 0n ? Number((value * 10_000n) / max) / 10_000 : 0
}

/** Height of a bar in pixels: what is there is seen, even when it is small beside the largest. */
export function barHeight(value: bigint, max: bigint, room: number): number {
  return value === 0n ? 0 : Math.max(2, shareOf(value, max) * room)
}

/** Which labels of `count` places are written, so that about `target` of them stand: always the first and the last. */
export function labelPositions(count: number, target: number): number[] {
  if (count <= target) return Array.from({ length: count }, (_, index) => index)
  const step = (count - 1) / (target - 1)
  return Array.from({ length: target }, (_, index) => Math.round(index * step))
}

type Axis = {
  /** From one gridline to the next: 1, 2 or 5 with zeros. */
  step: bigint
  /** The highest gridline, and how far the lowest one is below zero; whole steps. */
  top: bigint
  bottom: bigint
}

/** A scale with round gridlines, about `target` of them, that reaches what is above and what is below zero. */
export function axisOf(above: bigint, below: bigint, target = 4): Axis {
  const total = above + below
  if (total === 0n) return { step: 1n, top: 1n, bottom: 0n }
  const least = ceil(total, BigInt(target))
  const power = 10n ** BigInt(least.toString().length - 1)
  const step =
    [1n, 2n, 5n].map((digit) => digit * power).find((each) => each >= least) ?? 10n * power
  return { step, top: ceil(above, step) * step, bottom: ceil(below, step) * step }
}

/** The values of the gridlines, the highest first. */
export function gridlines({ step, top, bottom }: Axis): bigint[] {
  return Array.from(
    { length: Number((top + bottom) / step) + 1 },
    (_, index) => top - BigInt(index) * step,
  )
}

function ceil(value: bigint, unit: bigint): bigint {
  return (value + unit - 1n) / unit
}
