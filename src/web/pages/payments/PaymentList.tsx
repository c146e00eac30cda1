import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useCallback, useMemo, useState, useEffect } from 'react'
import { SEARCH_COUNTED } from '#contract/payment-search.ts'
import { serverNow } from '../../api/clock.ts'
import { newArrivals } from '../../api/merge-payment.ts'
import { useNewPayments } from '../../api/new-payments.ts'
import {
  entriesQueryOf,
  isFiltered,
  listQueryOf,
  noteFilterOf,
  renewOpened,
  type ListQuery,
  type NoteFilter,
  type PaymentFilter,
} from '../../api/payment-filter.ts'
import type { Viewer } from '../../api/queries.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { formatNumber } from '../../locales/formats.ts'
import {
  COLUMN_NAMES,
  columns,
  FIXED_COLUMN,
  resetColumns,
  toggleColumn,
  useColumns,
} from '../../payment-view/columns.ts'
import { Link } from '../../router/Link.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { toast } from '../../ui/Toast.tsx'
import { announce } from '../../ui/announce.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { useNow } from '../../ui/use-now.ts'
import { MOST_ROWS_SHOWN, PaymentRows } from './PaymentRows.tsx'
import { SelectionBar } from './SelectionBar.tsx'
import { useNotedPages, type PageReading, usePages, type Pages } from './use-pages.ts'
import { MOST_SELECTED, useSelection } from './use-selection.ts'

// Few visits end in a file.
const ExportDialog = lazy(() =>
  import('./ExportDialog.tsx').then((module) => ({ default: module.ExportDialog })),
)

export type PaymentListProps = { viewer: Viewer; filter: PaymentFilter }

/** The payments a filter names, newest first. */
export function PaymentList({ viewer, filter }: PaymentListProps) {
  const zone = usePreferences().timeZone
  const [opened, setOpened] = useState(serverNow)
  const [exporting, setExporting] = useState<boolean>()
  useNow()
  const renewed = renewOpened(opened, { filter, zone, now: serverNow() })
  // After midnight the list begins again, but not under a file that is being made.
  if (!exporting && renewed !== opened) setOpened(renewed)
  const query = useMemo(() => listQueryOf(filter, zone, opened), [filter, zone, opened])
  const noted = useMemo(() => noteFilterOf(filter), [filter])
  function onExporting(open: boolean) {
    if (open) setOpened(renewOpened(opened, { filter, zone, now: serverNow() }))
    setExporting(open)
  }
  const same = { viewer, filter, query, opened, exporting, onExporting }
  return noted ? (
    <NotedList {...same} key={opened} noted={noted} />
  ) : (
    <WholeList {...same} key={opened} />
  )
}

type Same = PaymentListProps & {
  query: ListQuery
  /** Periods such as "Today" are those of this moment. */
  opened: number
  /** Undefined until the first time. */
  exporting: boolean | undefined
  onExporting: (open: boolean) => void
}

/** A list of any length, of which only what is in view is read. */
function WholeList(same: Same) {
  const [range, setRange] = useState({ from: 0, to: 0 })
  return <ListView {...same} onRange={setRange} pages={usePages(same.viewer, same.query, range)} />
}

/** What the service does not know is looked for from the newest payment on. */
function NotedList({ noted, ...same }: Same & { noted: NoteFilter }) {
  return <ListView {...same} noted={noted} {...useNotedPages(same.viewer, same.query, noted)} />
}

type ListViewProps = Same & {
  pages: Pages
  noted?: NoteFilter
  looking?: PageReading
  onRange?: (range: { from: number; to: number }) => void
}

function ListView({
  viewer,
  filter,
  query,
  opened,
  exporting,
  onExporting,
  pages,
  noted,
  looking,
  onRange,
}: ListViewProps) {
  const { t } = useLingui()
  const zone = usePreferences().timeZone
  const [picking, setPicking] = useState(false)
  const most = formatNumber(MOST_SELECTED)
  const selection = useSelection(
    pages.load,
    useCallback(
      () =>
        toast(t`Select up to ${most} payments.`, {
          tone: 'warn',
        }),
      [t, most],
    ),
  )
  const arrivals = newArrivals(useNewPayments(), pages.first, { viewer, filter, zone, now: opened })

  if (pages.total === undefined) {
    if (pages.error) {
      return (
        <Card>
          <QueryError busy={pages.busy} error={pages.error} onRetry={pages.retry} />
        </Card>
      )
    }
    return (
      <>
        <LookingNote looking={looking} />
        <ListSkeleton />
      </>
    )
  }
  const { total } = pages
  const capped = filter.q !== undefined && total === SEARCH_COUNTED
  const fresh = Math.max(arrivals.length, pages.more)

  function showNew() {
    window.scrollTo({ top: 0 })
    pages.reopen()
  }

  return (
    <>
      <StaleBanner error={pages.error ?? pages.gap} onRetry={pages.retry} readAt={pages.readAt} />
      <NewPaymentsPill count={fresh} onShow={showNew} />
      <LookingNote looking={looking} />
      {/* What landed in a period may have been created before it. */}
      {(total > 0 || query.since !== undefined || query.until !== undefined) && (
        <Toolbar
          capped={capped}
          onExport={looking ? undefined : () => onExporting(true)}
          onPick={() => setPicking(!picking)}
          picking={picking}
          total={total}
        />
      )}
      {total === 0 ? (
        <Card>
          {isFiltered(filter) ? <NothingFound searched={filter.q !== undefined} /> : <FirstRun />}
        </Card>
      ) : (
        <>
          <PaymentRows
            onRange={onRange ?? ignore}
            pages={pages}
            picking={picking}
            selection={selection}
            total={total}
          />
          {(capped || total > MOST_ROWS_SHOWN) && (
            <p className="mt-3 text-sm text-muted">
              {t`${plural(Math.min(total, MOST_ROWS_SHOWN), { one: 'The newest payment is listed.', other: 'The newest # payments are listed.' })}`}{' '}
              <Trans>Narrow filters, or export all.</Trans>
            </p>
          )}
          <SelectionBar onExport={() => onExporting(true)} selection={selection} viewer={viewer} />
        </>
      )}
      {exporting !== undefined && (
        <Suspense>
          <ExportDialog
            entries={entriesQueryOf(filter, opened)}
            onClose={() => onExporting(false)}
            open={exporting}
            noted={noted}
            query={query}
            selected={[...selection.rows.values()]}
            total={total}
            until={pages.until}
            viewer={viewer}
          />
        </Suspense>
      )}
    </>
  )
}

function ignore(): void {
  // All rows are here already.
}

/** How far the list was looked through for notes. */
function LookingNote({ looking }: { looking: PageReading }) {
  if (!looking) return null
  const [looked, of] = [formatNumber(looking.looked), formatNumber(looking.of)]
  return (
    <p className="mb-2 flex items-center gap-2 text-sm text-muted" role="status">
      <Spinner />
      {looking.of === 0 ? (
        <Trans>Searching…</Trans>
      ) : (
        <Trans>
          Searched {looked} of {of} payments
        </Trans>
      )}
    </p>
  )
}

type ToolbarProps = {
  total: number
  /** There may be more: a search is not counted further. */
  capped: boolean
  picking: boolean
  onPick: () => void
  /** Not before it is known what there is. */ onExport: (() => void) | undefined
}

/** How many there are, and what can be done with all of them. */
function Toolbar({ total, capped, picking, onPick, onExport }: ToolbarProps) {
  const shown = formatNumber(total)
  return (
    <div className="mb-2 flex min-h-8 flex-wrap items-center justify-between gap-2">
      <span aria-live="polite" className="figures text-sm text-muted">
        {capped ? (
          <Trans>At least {shown} payments</Trans>
        ) : (
          <Plural one="# payment" other="# payments" value={total} />
        )}
      </span>
      <span className="flex items-center gap-2">
        {total > 0 && (
          <>
            <span aria-hidden className="hidden text-xs text-muted xl:inline">
              <Keys />
            </span>
            <Button className="md:hidden" onClick={onPick} size="sm">
              {picking ? <Trans>Done</Trans> : <Trans>Select</Trans>}
            </Button>
            <ColumnsMenu />
          </>
        )}
        <Button disabled={!onExport} icon={<Icon name="download" />} onClick={onExport} size="sm">
          <Trans>Export</Trans>
        </Button>
      </span>
    </div>
  )
}

function Keys() {
  const [j, k, x, enter] = ['j', 'k', 'x', '↵'].map((key) => (
    <kbd
      className="rounded-sm border border-line bg-surface px-1.5 py-0.5 font-mono text-xs"
      key={key}
    >
      {key}
    </kbd>
  ))
  return (
    <Trans>
      {j} {k} to move, {x} to select, {enter} to open
    </Trans>
  )
}

/** New payments wait behind a button: rows never move under a pointer. */
function NewPaymentsPill({ count, onShow }: { count: number; onShow: () => void }) {
  const { t } = useLingui()
  const words = t`${plural(count, { one: '# new payment', other: '# new payments' })}`
  useEffect(() => {
    if (count > 0) announce(words)
  }, [count, words])

  if (count === 0) return null
  return (
    <div className="pointer-events-none sticky top-20 z-10 mb-3 flex justify-center">
      <button
        className="animate-arrive touch-target pointer-events-auto inline-flex h-9 items-center gap-2 rounded-full border border-line bg-raised px-4 text-sm font-medium text-accent-ink shadow-lift hover:bg-hover"
        onClick={onShow}
        type="button"
      >
        <Icon className="-rotate-90" name="chevronRight" />
        {words}
      </button>
    </div>
  )
}

/** What the table shows, kept in this browser. */
function ColumnsMenu() {
  const { t } = useLingui()
  const shown = useColumns()
  return (
    <Popover
      className="max-md:hidden"
      label={t`Columns`}
      look={{ size: 'sm' }}
      trigger={
        <>
          <Icon name="table" />
          <Trans>Columns</Trans>
        </>
      }
    >
      {() => (
        <div className="space-y-3">
          {COLUMN_NAMES.filter((name) => name !== FIXED_COLUMN).map((name) => (
            <Checkbox
              checked={shown.includes(name)}
              key={name}
              label={t(columns[name].label)}
              onChange={() => toggleColumn(name)}
            />
          ))}
          <Button className="-ms-2.5" onClick={resetColumns} size="sm" variant="quiet">
            <Trans>Usual columns</Trans>
          </Button>
        </div>
      )}
    </Popover>
  )
}

function NothingFound({ searched }: { searched: boolean }) {
  return (
    <EmptyState
      action={
        <Button onClick={() => navigate(pathTo('payments', {}), { replace: true })}>
          <Trans>Clear filters</Trans>
        </Button>
      }
      icon="search"
      title={<Trans>Nothing found</Trans>}
    >
      {searched && <Trans>Try amount:&gt;1 or status:failed.</Trans>}
    </EmptyState>
  )
}

function FirstRun() {
  return (
    <EmptyState
      action={
        <Link className={buttonClass({ variant: 'primary' })} to={pathTo('checkout', {})}>
          <Trans>Make a payment</Trans>
        </Link>
      }
      icon="payments"
      title={<Trans>No payments yet</Trans>}
    />
  )
}

export function ListSkeleton() {
  const { t } = useLingui()
  return (
    <div
      aria-busy="true"
      aria-label={t`Loading`}
      className="overflow-hidden rounded-xl border border-line bg-surface"
      role="status"
    >
      {Array.from({ length: 8 }, (_, index) => (
        <div
          className="flex h-16 items-center gap-3 border-b border-line px-5 last:border-b-0"
          key={index}
        >
          <Skeleton className="size-8 rounded-full" />
          <div className="flex-1 space-y-1.5">
            <Skeleton className="h-3.5 w-28" />
            <Skeleton className="h-3 w-16" />
          </div>
          <Skeleton className="h-3.5 w-24 max-md:hidden" />
          <Skeleton className="h-6 w-20 rounded-full" />
        </div>
      ))}
    </div>
  )
}
