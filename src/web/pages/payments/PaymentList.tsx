import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useArrivals } from '../../api/arrivals.ts'
import { newArrivals } from '../../api/merge-payment.ts'
import { isFiltered, listQueryOf, type PaymentFilter } from '../../api/payment-filter.ts'
import type { Viewer } from '../../api/queries.ts'
import { serverNow } from '../../clock.ts'
import { formatNumber } from '../../locales/formats.ts'
import { usePreferences } from '../../preferences.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { toast } from '../../ui/Toast.tsx'
import { ColumnsMenu } from './ColumnsMenu.tsx'
import { FirstRun, NothingFound } from './EmptyList.tsx'
import { ListSkeleton } from './ListSkeleton.tsx'
import { NewPaymentsPill } from './NewPaymentsPill.tsx'
import { MOST_ROWS_SHOWN, PaymentRows } from './PaymentRows.tsx'
import { SelectionBar } from './SelectionBar.tsx'
import { usePages } from './use-pages.ts'
import { MOST_SELECTED, useSelection } from './use-selection.ts'

// Few visits end in a file.
const ExportDialog = lazy(() => import('./ExportDialog.tsx').then((module) => ({ default: module.ExportDialog })))

/** The payments a filter names, newest first: a list of any length, of which only what is in view is read. */
export function PaymentList({ viewer, filter }: { viewer: Viewer; filter: PaymentFilter }) {
  const { t } = useLingui()
  const zone = usePreferences().timeZone
  // Days are those of the moment the list was opened: at midnight no row changes its place.
  const [opened] = useState(serverNow)
  const query = useMemo(() => listQueryOf(filter, zone, opened), [filter, zone, opened])
  const [range, setRange] = useState({ from: 0, to: 0 })
  const [picking, setPicking] = useState(false)
  const [exporting, setExporting] = useState<boolean>()
  const pages = usePages(viewer, query, range)
  const most = formatNumber(MOST_SELECTED)
  const selection = useSelection(
    pages.load,
    useCallback(() => toast(t`At most ${most} payments can be selected. Export the filtered list instead.`, { tone: 'warn' }), [t, most]),
  )
  const arrivals = newArrivals(useArrivals(), pages.first, { viewer, filter, zone, now: opened })

  if (pages.total === undefined) {
    if (pages.error) {
      return (
        <Card>
          <QueryError busy={pages.busy} error={pages.error} onRetry={pages.retry} />
        </Card>
      )
    }
    return <ListSkeleton />
  }
  const { total } = pages
  const fresh = Math.max(arrivals.length, pages.more)

  function showNew() {
    window.scrollTo({ top: 0 })
    pages.reopen()
  }

  return (
    <>
      <StaleBanner error={pages.error ?? pages.gap} onRetry={pages.retry} readAt={pages.readAt} />
      <NewPaymentsPill count={fresh} onShow={showNew} />
      {total === 0 ? (
        <Card>{isFiltered(filter) ? <NothingFound searched={filter.q !== undefined} /> : <FirstRun />}</Card>
      ) : (
        <>
          <Toolbar onExport={() => setExporting(true)} onPick={() => setPicking(!picking)} picking={picking} total={total} />
          <PaymentRows onRange={setRange} pages={pages} picking={picking} selection={selection} total={total} />
          {total > MOST_ROWS_SHOWN && (
            <p className="mt-3 text-sm text-muted">
              {t`${plural(MOST_ROWS_SHOWN, { one: 'The newest payment is listed.', other: 'The newest # payments are listed.' })}`}{' '}
              <Trans>Narrow the filters for older ones, or export all.</Trans>
            </p>
          )}
          <SelectionBar onExport={() => setExporting(true)} selection={selection} viewer={viewer} />
        </>
      )}
      {exporting !== undefined && (
        <Suspense>
          <ExportDialog
            onClose={() => setExporting(false)}
            open={exporting}
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

type ToolbarProps = { total: number; picking: boolean; onPick: () => void; onExport: () => void }

/** How many there are, and what can be done with all of them. */
function Toolbar({ total, picking, onPick, onExport }: ToolbarProps) {
  return (
    <div className="mb-2 flex min-h-8 flex-wrap items-center justify-between gap-2">
      <span aria-live="polite" className="figures text-sm text-muted">
        <Plural one="# payment" other="# payments" value={total} />
      </span>
      <span className="flex items-center gap-2">
        <span aria-hidden className="hidden text-xs text-muted xl:inline">
          <Keys />
        </span>
        <Button className="md:hidden" onClick={onPick} size="sm">
          {picking ? <Trans>Done</Trans> : <Trans>Select</Trans>}
        </Button>
        <ColumnsMenu />
        <Button icon={<Icon name="download" />} onClick={onExport} size="sm">
          <Trans>Export</Trans>
        </Button>
      </span>
    </div>
  )
}

function Keys() {
  const [j, k, x, enter] = ['j', 'k', 'x', '↵'].map((key) => (
    <kbd className="rounded-sm border border-line bg-surface px-1.5 py-0.5 font-mono text-xs" key={key}>
      {key}
    </kbd>
  ))
  return (
    <Trans>
      {j} {k} to move, {x} to select, {enter} to open
    </Trans>
  )
}
