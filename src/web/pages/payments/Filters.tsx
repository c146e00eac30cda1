import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import {
  INCOMPLETE,
  isIncomplete,
  statusesOf,
  type PaymentFilter,
} from '../../api/payment-filter.ts'
import { pathTo, readSearch } from '../../router/paths.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { navigate } from '../../router/location.ts'
import { useConfig } from '../../api/use-config.ts'
import { Button } from '../../ui/Button.tsx'
import { cx } from '../../ui/cx.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { usePersistentFocus } from '../../ui/use-persistent-focus.ts'
import { useNow } from '../../ui/use-now.ts'
import { AmountFilter } from './AmountFilter.tsx'
import { chipsOf, periodWords, type FilterChip } from '../../payment-view/filter-words.ts'
import { NoteFilter } from './NoteFilter.tsx'
import { PeriodFilter } from './PeriodFilter.tsx'
import { SearchBox } from './SearchBox.tsx'
import { StatusFilter } from './StatusFilter.tsx'

/** Every filter lives in the address: a link to a view is the view. */
export function Filters({ filter }: { filter: PaymentFilter }) {
  const { networks } = useConfig()
  const { t } = useLingui()
  const zone = usePreferences().timeZone
  const now = useNow()
  // A phone shows what is set as chips, and what can be set on demand.
  const [open, setOpen] = useState(false)
  const keptFocus = usePersistentFocus()
  const change = (next: Partial<Record<keyof PaymentFilter, string | undefined>>) =>
    navigate(pathTo('payments', { search: readSearch('payments', { ...filter, ...next }) }), {
      replace: true,
    })
  const chips = chipsOf(filter, {
    networks,
    zone,
    now,
    periodLabel: filter.when && t(periodWords[filter.when]),
  })
  const symbols = [...new Set(networks.flatMap(({ assets }) => assets.map(({ symbol }) => symbol)))]
  return (
    <search className="mb-4 block" {...keptFocus}>
      <div className="flex flex-wrap items-center gap-2">
        <Segmented
          className="max-sm:flex max-sm:basis-full"
          label={t`Direction`}
          onChange={(value) => change({ type: value === 'all' ? undefined : value })}
          options={[
            { value: 'all', label: t`All` },
            { value: 'received', label: t`Received` },
            { value: 'sent', label: t({ message: 'Sent', context: 'money' }) },
            { value: 'internal', label: t`Internal` },
          ]}
          value={filter.type === 'external' ? 'all' : (filter.type ?? 'all')}
        />
        <Button aria-expanded={open} className="sm:hidden" onClick={() => setOpen(!open)}>
          <Trans>Filters</Trans>
          <Icon className={open ? 'rotate-180 text-muted' : 'text-muted'} name="chevronDown" />
        </Button>
        <div
          className={cx(
            'flex flex-wrap items-center gap-2 max-sm:order-last max-sm:basis-full',
            !open && 'max-sm:hidden',
          )}
        >
          <StatusFilter
            incomplete={isIncomplete(filter)}
            onChange={(statuses) =>
              change({
                status: statuses === INCOMPLETE ? INCOMPLETE : statuses.join(',') || undefined,
              })
            }
            statuses={statusesOf(filter)}
          />
          <PeriodFilter
            dates={filter}
            label={chips.find(({ id }) => id === 'date')?.text}
            onChange={({ when, from, to }) => change({ when, from, to })}
          />
          <AmountFilter
            amounts={filter}
            onChange={({ asset, min, max }) => change({ asset, min, max })}
            symbols={symbols}
          />
          <NoteFilter label={filter.label} onChange={change} reconciled={filter.reconciled} />
          {networks.length > 1 && (
            <Select
              aria-label={t`Network`}
              className="max-sm:flex-1"
              onChange={(event) => change({ network: event.target.value || undefined })}
              value={filter.network ?? ''}
            >
              <option value="">
                <Trans>Any network</Trans>
              </option>
              {networks.map(({ network, name }) => (
                <option key={network} value={network}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </div>
        <SearchBox onSearch={(q) => change({ q: q || undefined })} text={filter.q ?? ''} />
      </div>
      {chips.length > 0 && <Chips chips={chips} onChange={change} />}
    </search>
  )
}

/** What is set, each to be taken away. */
function Chips({
  chips,
  onChange,
}: {
  chips: readonly FilterChip[]
  onChange: (without: FilterChip['without']) => void
}) {
  const { t } = useLingui()
  return (
    <ul aria-label={t`Filters that are set`} className="mt-3 flex flex-wrap items-center gap-2">
      {chips.map(({ id, text, without }) => (
        <li key={id}>
          <button
            className="touch-target inline-flex h-8 max-w-76 items-center gap-1.5 rounded-full border border-line bg-surface ps-3 pe-2 text-sm text-ink hover:bg-hover"
            onClick={() => onChange(without)}
            title={t`Remove this filter`}
            type="button"
          >
            <span className="truncate">{text}</span>
            <Icon className="shrink-0 text-muted" name="cross" size={14} />
            <span className="sr-only">
              <Trans>remove</Trans>
            </span>
          </button>
        </li>
      ))}
      <li>
        <Button
          onClick={() => navigate(pathTo('payments', {}), { replace: true })}
          size="sm"
          variant="quiet"
        >
          <Trans>Clear filters</Trans>
        </Button>
      </li>
    </ul>
  )
}
