import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent, type ReactNode } from 'react'
import * as v from 'valibot'
import { isFiltered, type PaymentFilter } from '../../api/payment-filter.ts'
import { createBrowserStore } from '../../local-data/store.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo, readSearch } from '../../router/paths.ts'
import { Button } from '../../ui/Button.tsx'
import { usePersistentFocus } from '../../ui/Card.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { toast } from '../../ui/Toast.tsx'
import { cx } from '../../ui/button-class.ts'

/** A set of filters under a name, in this browser. */
type SavedView = { id: string; name: string; filter: PaymentFilter }

const MOST_VIEWS = 30
const Stored = v.array(
  v.object({
    id: v.string(),
    name: v.pipe(v.string(), v.maxLength(60)),
    filter: v.record(v.string(), v.optional(v.string())),
  }),
)

const store = createBrowserStore<readonly SavedView[]>('paydesk.views', parse)

function useSavedViews(): readonly SavedView[] {
  return store.use()
}

export function getSavedViews(): readonly SavedView[] {
  return store.get()
}

/** A view of the same name gives way to it. */
export function saveView(name: string, filter: PaymentFilter): SavedView {
  const view = { id: crypto.randomUUID(), name, filter }
  store.set([...store.get().filter((each) => each.name !== name), view].slice(-MOST_VIEWS))
  return view
}

/** @returns puts it back where it was */
export function removeView(id: string): () => void {
  const at = store.get().findIndex((view) => view.id === id)
  const removed = store.get()[at]
  store.set(store.get().filter((view) => view.id !== id))
  return () => {
    if (removed && !store.get().some((view) => view.id === id))
      store.set(store.get().toSpliced(at, 0, removed))
  }
}

/** Whether two sets of filters are one view. */
export function isSameFilter(a: PaymentFilter, b: PaymentFilter): boolean {
  const text = (filter: PaymentFilter) =>
    JSON.stringify(
      Object.entries(filter)
        .filter(([, value]) => value)
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    )
  return text(a) === text(b)
}

function parse(text: string | null): readonly SavedView[] {
  try {
    const stored = v.safeParse(Stored, JSON.parse(text ?? '[]'))
    return stored.success
      ? stored.output.map(({ id, name, filter }) => ({
          id,
          name,
          filter: readSearch('payments', filter),
        }))
      : []
  } catch {
    return []
  }
}

/** Filters under a name, side by side. They stay in this browser; a link to one is a link to its filters. */
export function Views({ filter }: { filter: PaymentFilter }) {
  const { t } = useLingui()
  const views = useSavedViews()
  const [naming, setNaming] = useState(false)
  const persistentFocus = usePersistentFocus()
  const here = views.find((view) => isSameFilter(view.filter, filter))

  function remove(view: SavedView) {
    toast(t`View deleted`, { undo: removeView(view.id) })
  }

  if (views.length === 0 && !isFiltered(filter)) return null
  return (
    <div
      className="mb-4 flex items-center gap-1 overflow-x-auto border-b border-line"
      {...persistentFocus}
    >
      <nav aria-label={t`Views`}>
        <ul className="flex">
          <li>
            <Tab current={!isFiltered(filter)} filter={{}}>
              <Trans>All payments</Trans>
            </Tab>
          </li>
          {views.map((view) => (
            <li key={view.id}>
              <Tab current={here === view} filter={view.filter}>
                {view.name}
              </Tab>
            </li>
          ))}
        </ul>
      </nav>
      {here && (
        <Button
          icon={<Icon name="cross" size={14} />}
          onClick={() => remove(here)}
          size="sm"
          variant="quiet"
        >
          <Trans>Delete view</Trans>
        </Button>
      )}
      {!here && isFiltered(filter) && (
        <Button onClick={() => setNaming(true)} size="sm" variant="quiet">
          <Trans>Save view</Trans>
        </Button>
      )}
      <NameDialog
        filter={filter}
        onClose={() => setNaming(false)}
        open={naming}
        taken={views.map(({ name }) => name)}
      />
    </div>
  )
}

function Tab({
  filter,
  current,
  children,
}: {
  filter: PaymentFilter
  current: boolean
  children: ReactNode
}) {
  return (
    <Link
      aria-current={current ? 'page' : undefined}
      className={cx(
        'touch-target -mb-px inline-flex h-10 max-w-52 items-center truncate border-b-2 px-3 text-sm whitespace-nowrap transition-colors focus-visible:-outline-offset-2',
        current
          ? 'border-accent font-medium text-ink'
          : 'border-transparent text-muted hover:text-ink',
      )}
      replace
      to={pathTo('payments', { search: filter })}
    >
      {children}
    </Link>
  )
}

function NameDialog({
  filter,
  open,
  onClose,
  taken,
}: {
  filter: PaymentFilter
  open: boolean
  onClose: () => void
  taken: readonly string[]
}) {
  const { t } = useLingui()
  const [name, setName] = useState('')
  const trimmed = name.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (trimmed === '') return
    saveView(trimmed, filter)
    setName('')
    onClose()
    toast(t`Saved`, { tone: 'good' })
  }
  return (
    <Dialog onClose={onClose} open={open} size="sm" title={<Trans>Save view</Trans>}>
      <form onSubmit={submit}>
        <Field
          hint={taken.includes(trimmed) ? <Trans>Replaces the existing view.</Trans> : undefined}
          label={<Trans>Name</Trans>}
        >
          <Input maxLength={60} onChange={(event) => setName(event.target.value)} value={name} />
        </Field>
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button disabled={trimmed === ''} type="submit" variant="primary">
            <Trans>Save view</Trans>
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
