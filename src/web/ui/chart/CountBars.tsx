import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useId, useState, type KeyboardEvent, type ReactNode } from 'react'
import { formatNumber } from '../../locales/formats.ts'
import { Button } from '../Button.tsx'
import { cx } from '../cx.ts'
import { Icon } from '../Icon.tsx'
import { Table, Td, Th } from '../Table.tsx'
import { labelPositions } from './scale.ts'

export type CountBar = { name: string; answered: number; refused: number; failed: number }
export type CountBarsProps = {
  /** What the bars show: "Requests an hour". */
  label: string
  bars: readonly CountBar[]
}

const HEIGHT = 120
const PLACE = 20
const GAP = 3
/** What is there is seen, however small it is beside the largest. */
const LEAST = 2

/** Counts over time, refused and failed ones on top of those answered. Arrow keys walk the bars; the same figures stand in a table. */
export function CountBars({ label, bars }: CountBarsProps) {
  const [asTable, setAsTable] = useState(false)
  const [at, setAt] = useState<number>()
  const hint = useId()
  const shown = at === undefined ? undefined : bars[at]

  function walk(event: KeyboardEvent) {
    const last = bars.length - 1
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
        <span className="figures" id={hint}>
          {shown ? sentenceOf(shown) : <Legend />}
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
        <CountTable bars={bars} label={label} />
      ) : (
        <div
          aria-label={t`${label}. Arrow keys walk the bars.`}
          aria-orientation="horizontal"
          aria-valuemax={Math.max(0, bars.length - 1)}
          aria-valuemin={0}
          aria-valuenow={at ?? Math.max(0, bars.length - 1)}
          aria-valuetext={shown ? sentenceOf(shown) : t`No bar chosen`}
          className="rounded-md"
          onBlur={() => setAt(undefined)}
          onKeyDown={walk}
          onPointerLeave={() => setAt(undefined)}
          role="slider"
          tabIndex={0}
        >
          <Bars at={at} bars={bars} onPoint={setAt} />
          <Names bars={bars} />
        </div>
      )}
    </div>
  )
}

function Bars({
  bars,
  at,
  onPoint,
}: {
  bars: readonly CountBar[]
  at: number | undefined
  onPoint: (index: number) => void
}) {
  const most = Math.max(1, ...bars.map(totalOf))
  const tall = (count: number) => (count === 0 ? 0 : Math.max(LEAST, (count / most) * (HEIGHT - 2)))
  return (
    <svg
      aria-hidden
      className="block w-full"
      height={HEIGHT}
      preserveAspectRatio="none"
      viewBox={`0 0 ${Math.max(1, bars.length) * PLACE} ${HEIGHT}`}
    >
      {bars.map((bar, index) => {
        const [answered, refused, failed] = [
          tall(bar.answered),
          tall(bar.refused),
          tall(bar.failed),
        ]
        const x = index * PLACE + GAP
        const width = PLACE - 2 * GAP
        return (
          <g key={bar.name} onPointerEnter={() => onPoint(index)}>
            <rect
              className={index === at ? 'fill-hover' : 'fill-transparent'}
              height={HEIGHT}
              width={PLACE}
              x={index * PLACE}
              y={0}
            />
            <rect
              className="fill-chart-received"
              height={answered}
              width={width}
              x={x}
              y={HEIGHT - 1 - answered}
            />
            <rect
              className="fill-warn-edge"
              height={refused}
              width={width}
              x={x}
              y={HEIGHT - 1 - answered - refused}
            />
            <rect
              className="fill-bad-edge"
              height={failed}
              width={width}
              x={x}
              y={HEIGHT - 1 - answered - refused - failed}
            />
          </g>
        )
      })}
      <line
        className="stroke-edge"
        strokeWidth={1}
        vectorEffect="non-scaling-stroke"
        x1={0}
        x2={Math.max(1, bars.length) * PLACE}
        y1={HEIGHT - 0.5}
        y2={HEIGHT - 0.5}
      />
    </svg>
  )
}

function Names({ bars }: { bars: readonly CountBar[] }) {
  return (
    <div aria-hidden className="figures relative mt-1 h-4 text-xs text-faint">
      {labelPositions(bars.length, 4).map((place, index, all) => (
        <span
          className={cx(
            'absolute whitespace-nowrap',
            index > 0 && (index === all.length - 1 ? '-translate-x-full' : '-translate-x-1/2'),
          )}
          key={place}
          style={{
            left: `${((place + (index === 0 ? 0 : index === all.length - 1 ? 1 : 0.5)) / bars.length) * 100}%`,
          }}
        >
          {bars[place]?.name}
        </span>
      ))}
    </div>
  )
}

function Legend() {
  return (
    <span className="flex flex-wrap gap-x-3">
      <Swatch className="bg-chart-received">
        <Trans>Answered</Trans>
      </Swatch>
      <Swatch className="bg-warn-edge">
        <Trans>Refused</Trans>
      </Swatch>
      <Swatch className="bg-bad-edge">
        <Trans context="requests">Failed</Trans>
      </Swatch>
    </span>
  )
}

function Swatch({ className, children }: { className: string; children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <span aria-hidden className={cx('forced-fill size-2 rounded-[2px]', className)} />
      {children}
    </span>
  )
}

function CountTable({ label, bars }: CountBarsProps) {
  return (
    <div aria-label={label} className="-mx-5 max-h-64 overflow-y-auto" role="group" tabIndex={0}>
      <Table caption={label}>
        <thead>
          <tr>
            <Th>
              <Trans>Time</Trans>
            </Th>
            <Th end>
              <Trans>Answered</Trans>
            </Th>
            <Th end>
              <Trans>Refused</Trans>
            </Th>
            <Th end>
              <Trans context="requests">Failed</Trans>
            </Th>
          </tr>
        </thead>
        <tbody>
          {bars
            .filter((bar) => totalOf(bar) > 0)
            .toReversed()
            .map((bar) => (
              <tr key={bar.name}>
                <Td>{bar.name}</Td>
                <Td className="figures" end>
                  {formatNumber(bar.answered)}
                </Td>
                <Td className="figures" end>
                  {formatNumber(bar.refused)}
                </Td>
                <Td className="figures" end>
                  {formatNumber(bar.failed)}
                </Td>
              </tr>
            ))}
        </tbody>
      </Table>
    </div>
  )
}

function totalOf({ answered, refused, failed }: CountBar): number {
  return answered + refused + failed
}

function sentenceOf({ name, ...counts }: CountBar): string {
  const [answered, refused, failed] = [
    formatNumber(counts.answered),
    formatNumber(counts.refused),
    formatNumber(counts.failed),
  ]
  return t`${name}: ${answered} answered, ${refused} refused, ${failed} failed`
}
