import { PAYMENT_STATUSES } from '#contract/payment.ts'
import type { PaymentFilter } from '../../api/queries.ts'
import { pathTo, readSearch } from '../../paths.ts'
import { navigate } from '../../router/location.ts'
import { useConfig } from '../../shell/use-config.ts'
import { Button } from '../../ui/Button.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { statusLabel } from '../../ui/status-words.ts'
import { SearchBox } from './SearchBox.tsx'

const types = [
  { value: 'all', label: 'All' },
  { value: 'received', label: 'Received' },
  { value: 'sent', label: 'Sent' },
] as const

/** Every filter lives in the address: a link to a view is the view. */
export function Filters({ filter }: { filter: PaymentFilter }) {
  const { networks } = useConfig()
  const change = (next: Partial<Record<keyof PaymentFilter, string>>) =>
    navigate(pathTo('payments', { search: readSearch('payments', { ...filter, ...next }) }), { replace: true })
  const filtered = Object.values(filter).some(Boolean)
  return (
    <search className="mb-4 flex flex-wrap items-center gap-2">
      <Segmented
        className="max-sm:flex max-sm:basis-full"
        label="Direction"
        onChange={(value) => change({ type: value === 'all' ? '' : value })}
        options={types}
        value={filter.type ?? 'all'}
      />
      <Select aria-label="Status" className="max-sm:flex-1" onChange={(event) => change({ status: event.target.value })} value={filter.status ?? ''}>
        <option value="">Any status</option>
        {PAYMENT_STATUSES.map((status) => (
          <option key={status} value={status}>
            {statusLabel(status)}
          </option>
        ))}
      </Select>
      {networks.length > 1 && (
        <Select aria-label="Network" className="max-sm:flex-1" onChange={(event) => change({ network: event.target.value })} value={filter.network ?? ''}>
          <option value="">Any network</option>
          {networks.map(({ network, name }) => (
            <option key={network} value={network}>
              {name}
            </option>
          ))}
        </Select>
      )}
      <SearchBox onSearch={(q) => change({ q })} text={filter.q ?? ''} />
      {filtered && (
        <Button onClick={() => navigate(pathTo('payments', {}), { replace: true })} variant="quiet">
          Clear filters
        </Button>
      )}
    </search>
  )
}
