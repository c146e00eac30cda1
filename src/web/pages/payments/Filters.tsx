import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { parseSearch, type SearchProblem } from '#contract/payment-search.ts'
import { isPaymentId } from '#contract/payment.ts'
import { hasRole } from '#contract/role.ts'
import { labelsQuery } from '../../api/notes.ts'
import {
  INCOMPLETE,
  isIncomplete,
  statusesOf,
  type PaymentFilter,
  type NoteFilter as Noted,
} from '../../api/payment-filter.ts'
import { useRole } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { chipsOf, periodWords, type FilterChip } from '../../payment-view/filter-words.ts'
import { navigate } from '../../router/location.ts'
import { pathTo, readSearch } from '../../router/paths.ts'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { useTypedSearch } from '../../ui/SearchBox.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { cx } from '../../ui/button-class.ts'
import { useNow } from '../../ui/use-now.ts'
import { usePersistentFocus } from '../../ui/Card.tsx'
import { AmountFilter } from './AmountFilter.tsx'
import { PeriodFilter } from './PeriodFilter.tsx'
import { StatusFilter } from './StatusFilter.tsx'

/** Every filter lives in the address: a link to a view is the view. */
export function Filters({ filter }: { filter: PaymentFilter }) {
  const { networks } = useConfig()
  const { t } = useLingui()
  const zone = usePreferences().timeZone
  const now = useNow()
  // A phone shows what is set as chips, and what can be set on demand.
  const [open, setOpen] = useState(false)
  const persistentFocus = usePersistentFocus()
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
    <search className="mb-4 block" {...persistentFocus}>
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
            onChange={({ when, from, to }) => change({ when, from, to, zone: undefined })}
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
              className="max-sm:flex-1 [&>select]:field-sizing-content [&>select]:ps-4 [&>select]:font-medium"
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
  onChange: (without: FilterChip['cleared']) => void
}) {
  const { t } = useLingui()
  return (
    <ul aria-label={t`Filters`} className="mt-3 flex flex-wrap items-center gap-2">
      {chips.map(({ id, text, cleared }) => (
        <li key={id}>
          <button
            className="touch-target inline-flex h-8 max-w-76 items-center gap-1.5 rounded-full border border-line bg-surface ps-3 pe-2 text-sm text-ink hover:bg-hover"
            onClick={() => onChange(cleared)}
            title={t`Remove`}
            type="button"
          >
            <span className="truncate">{text}</span>
            <Icon className="shrink-0 text-muted" name="cross" size={14} />
            <span className="sr-only">
              <Trans>Remove</Trans>
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

const examples = {
  amount: 'amount:>1',
  status: 'status:failed',
  asset: 'asset:ETH',
  network: 'network:eip155:1',
  from: 'from:0x…',
  to: 'to:0x…',
  operator: 'amount:>1',
  once: 'amount:1..5',
} satisfies Record<SearchProblem['expected'], string>

/** Searches once the typing pauses; a whole payment id and Enter go straight to the payment. */
function SearchBox({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  const { t } = useLingui()
  const member = hasRole(useRole(), 'viewer')
  // What cannot be read is not asked: the list stays as it is.
  const { typed, setTyped, search } = useTypedSearch(
    text,
    onSearch,
    (query) => parseSearch(query).ok,
  )
  const problem = useId()
  const parsed = parseSearch(typed)
  const wrong = parsed.ok ? undefined : parsed.problem.word
  const example = parsed.ok ? undefined : examples[parsed.problem.expected]

  return (
    <form
      className="min-w-56 flex-1 max-sm:basis-full"
      onSubmit={(event) => {
        event.preventDefault()
        const query = typed.trim()
        if (isPaymentId(query)) navigate(pathTo('payment', { params: { paymentId: query } }))
        else search(query)
      }}
    >
      <Input
        aria-describedby={wrong === undefined ? undefined : problem}
        aria-invalid={wrong === undefined ? undefined : true}
        aria-label={t`Search payments`}
        maxLength={300}
        onChange={(event) => setTyped(event.target.value)}
        placeholder={
          member ? t`Customer, ID, address, reference or URL` : t`ID, address, reference or URL`
        }
        prefix={<Icon name="search" />}
        type="search"
        value={typed}
      />
      <p
        aria-live="polite"
        className={cx('text-sm text-bad-ink', wrong !== undefined && 'mt-1')}
        id={problem}
      >
        {wrong !== undefined && (
          <Trans>
            Not understood: {wrong}. Example: {example}
          </Trans>
        )}
      </p>
    </form>
  )
}

type NoteFilterProps = Partial<Record<keyof Noted, string | undefined>> & {
  onChange: (noted: Partial<Record<keyof Noted, string | undefined>>) => void
}

/** By what the reader's side wrote beside payments: a label, and whether they are matched with the books. */
function NoteFilter({ label, reconciled, onChange }: NoteFilterProps) {
  const { t } = useLingui()
  return (
    <Popover
      label={t`Labels`}
      trigger={
        <>
          {label ??
            (reconciled === 'yes' ? (
              <Trans>Reconciled</Trans>
            ) : reconciled === 'no' ? (
              <Trans>Not reconciled</Trans>
            ) : (
              <Trans>Any label</Trans>
            ))}
          <Icon className="text-muted" name="chevronDown" />
        </>
      }
    >
      {() => <Choices label={label} onChange={onChange} reconciled={reconciled} />}
    </Popover>
  )
}

function Choices({ label, reconciled, onChange }: NoteFilterProps) {
  const labels = useQuery(labelsQuery).data ?? []
  const known =
    label === undefined || labels.some((each) => each.label === label)
      ? labels
      : [{ label, payments: 0 }, ...labels]
  return (
    <div className="grid gap-4">
      <Field
        hint={known.length === 0 ? <Trans>Select payments to label.</Trans> : undefined}
        label={<Trans>Label</Trans>}
      >
        <Select
          onChange={(event) => onChange({ label: event.target.value || undefined })}
          value={label ?? ''}
        >
          <option value="">
            <Trans>Any label</Trans>
          </option>
          {known.map((each) => (
            <option key={each.label} value={each.label}>
              {each.label}
            </option>
          ))}
        </Select>
      </Field>
      <Field label={<Trans>Reconciled</Trans>}>
        <Select
          onChange={(event) => onChange({ reconciled: event.target.value || undefined })}
          value={reconciled ?? ''}
        >
          <option value="">
            <Trans>All</Trans>
          </option>
          <option value="yes">
            <Trans>Reconciled</Trans>
          </option>
          <option value="no">
            <Trans>Not reconciled</Trans>
          </option>
        </Select>
      </Field>
    </div>
  )
}
