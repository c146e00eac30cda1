import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import {
  useDeferredValue,
  useEffect,
  useId,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'
import { hasRole } from '#contract/role.ts'
import { namedCustomersQuery } from '../api/customers.ts'
import { newestQuery, type Viewer } from '../api/queries.ts'
import { useRole, useSession } from '../api/session.ts'
import { CustomerName } from '../payment-view/CustomerName.tsx'
import { purposeOf } from '../payment-view/describe-row.ts'
import { directionWords } from '../payment-view/Direction.tsx'
import { navigate } from '../router/location.ts'
import { pathTo } from '../router/paths.ts'
import { useOffered } from '../shell/Navigation.tsx'
import { Address } from '../ui/Address.tsx'
import { Amount } from '../ui/Amount.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Input } from '../ui/Input.tsx'
import { Time } from '../ui/Time.tsx'
import { UntrustedText } from '../ui/UntrustedText.tsx'
import { cx } from '../ui/button-class.ts'
import { findCommands, paymentIdIn, searchOf, type PaletteCommand } from './find-commands.ts'

/** Payments, and customers, shown of a search; the last entry leads to all payments. */
const SHOWN = 5
/** A search begins when the typing has paused for so long. */
const PAUSE_MS = 200

type Entry = { id: string; to: string; icon: IconName; content: ReactNode }
type Group = { id: string; name: ReactNode; entries: Entry[] }

/** Goes to a page, finds a payment or a customer, or begins something, from any page of the dashboard. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const session = useSession()
  const viewer = session.kind === 'known' ? session.viewer : null
  const member = hasRole(useRole(), 'viewer')
  const sought = member ? t`Page, payment, customer or address` : t`Page, payment, hash or address`
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const { groups, searching } = useEntries(typed, viewer)
  const entries = groups.flatMap((group) => group.entries)
  const at = Math.max(0, Math.min(chosen, entries.length - 1))
  const id = useId()
  const optionId = (entry: Entry) => `${id}-${entry.id}`
  const active = entries[at]
  const activeId = active && optionId(active)

  useEffect(() => {
    if (activeId) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])

  function go(entry: Entry | undefined) {
    if (!entry) return
    onClose()
    navigate(entry.to)
  }

  function onKey(event: KeyboardEvent) {
    // Enter also ends the spelling of a word in Chinese.
    if (event.nativeEvent.isComposing) return
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key]
    if (to !== undefined) setChosen((to + entries.length) % Math.max(1, entries.length))
    else if (event.key === 'Enter') go(active)
    else return
    event.preventDefault()
  }

  return (
    <Dialog onClose={onClose} open title={<Trans>Search</Trans>}>
      <Input
        aria-activedescendant={activeId}
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-expanded="true"
        aria-label={sought}
        maxLength={300}
        onChange={(event) => {
          setTyped(event.target.value)
          setChosen(0)
        }}
        onKeyDown={onKey}
        placeholder={sought}
        prefix={<Icon name="search" />}
        role="combobox"
        value={typed}
      />
      <div
        aria-busy={searching}
        aria-label={t`Results`}
        className="-mx-2 mt-3 max-h-[min(60dvh,420px)] overflow-y-auto"
        id={`${id}-list`}
        role="listbox"
      >
        {groups.map((group) => (
          <div aria-labelledby={`${id}-${group.id}`} key={group.id} role="group">
            <p className="px-3 pt-3 pb-1 text-xs text-muted" id={`${id}-${group.id}`}>
              {group.name}
            </p>
            {group.entries.map((entry) => (
              <button
                aria-selected={entry === active}
                className={cx(
                  'forced-chosen flex min-h-10 w-full cursor-pointer items-center gap-3 rounded-md px-3 py-2 text-left text-sm pointer-coarse:min-h-12',
                  entry === active && 'bg-hover',
                )}
                id={optionId(entry)}
                key={entry.id}
                onClick={() => go(entry)}
                onPointerMove={() => setChosen(entries.indexOf(entry))}
                role="option"
                tabIndex={-1}
                type="button"
              >
                <Icon className="shrink-0 text-muted" name={entry.icon} />
                <span className="min-w-0 flex-1">{entry.content}</span>
              </button>
            ))}
          </div>
        ))}
      </div>
      <p className="mt-3 text-xs text-muted" role="status">
        {searching ? (
          <Trans>Searching…</Trans>
        ) : (
          <Plural one="# result" other="# results" value={entries.length} />
        )}
      </p>
    </Dialog>
  )
}

/** What fits what is typed, in groups, and whether payments are still being searched. */
function useEntries(typed: string, viewer: Viewer | null) {
  const { t } = useLingui()
  const operator = hasRole(useRole(), 'operator')
  const owner = hasRole(useRole(), 'owner')
  const pages: (PaletteCommand & { icon: IconName })[] = useOffered().map(
    ({ to, label, icon }) => ({
      id: to,
      to,
      icon,
      label: t(label),
    }),
  )
  const begun: (PaletteCommand & { icon: IconName; offered: boolean })[] = [
    {
      id: 'link',
      to: pathTo('links', { search: { create: 'link' } }),
      icon: 'link',
      label: t`Create a payment link`,
      offered: operator,
    },
    {
      id: 'payment',
      to: pathTo('checkout', {}),
      icon: 'pay',
      label: t`Make a payment`,
      offered: true,
    },
    {
      id: 'key',
      to: pathTo('developers', {}),
      icon: 'code',
      label: t`Create API key`,
      offered: owner,
    },
    {
      id: 'person',
      to: pathTo('people', {}),
      icon: 'people',
      label: t`Invite a person`,
      offered: owner,
    },
  ]
  const paymentId = paymentIdIn(typed)
  const q = usePaused(paymentId === undefined ? searchOf(typed) : undefined)
  const found = useQuery({
    ...newestQuery(viewer ?? { wallets: [] }, { q: q ?? '' }, SHOWN),
    enabled: viewer !== null && q !== undefined,
  })
  const customers = useCustomers(q)
  const rows = useDeferredValue(found.data?.payments)
  const entryOf = ({ id, to, icon, label }: PaletteCommand & { icon: IconName }): Entry => ({
    id,
    to,
    icon,
    content: label,
  })
  const payments: Entry[] =
    paymentId !== undefined
      ? [
          {
            id: paymentId,
            to: pathTo('payment', { params: { paymentId } }),
            icon: 'payments',
            content: (
              <Trans>
                Open payment <Address noun="payment id" value={paymentId} />
              </Trans>
            ),
          },
        ]
      : viewer !== null && q !== undefined
        ? [
            ...(found.data ? (rows ?? []) : []).map((row) => ({
              id: row.paymentId,
              to: pathTo('payment', { params: { paymentId: row.paymentId } }),
              icon: 'payments' as const,
              content: <FoundPayment row={row} />,
            })),
            {
              id: 'search',
              to: pathTo('payments', { search: { q } }),
              icon: 'search',
              content: (
                <span className="block truncate">
                  <Trans>Search payments for “{q}”</Trans>
                </span>
              ),
            },
          ]
        : []
  const groups: Group[] = [
    {
      id: 'pages',
      name: <Trans>Pages</Trans>,
      entries: findCommands(pages, typed).map(entryOf),
    },
    {
      id: 'new',
      name: <Trans>New</Trans>,
      entries: findCommands(
        begun.filter(({ offered }) => offered),
        typed,
      ).map(entryOf),
    },
    { id: 'customers', name: <Trans>Customers</Trans>, entries: customers.entries },
    { id: 'payments', name: <Trans>Payments</Trans>, entries: payments },
  ]
  return {
    groups: groups.filter(({ entries }) => entries.length > 0),
    searching: found.isFetching || customers.searching,
  }
}

/** Customers whose name, label or e-mail address is typed: for people of the account, who gave them. */
function useCustomers(q: string | undefined): { entries: Entry[]; searching: boolean } {
  const member = hasRole(useRole(), 'viewer')
  const query = namedCustomersQuery(q ?? '')
  const enabled = member && query.enabled
  const { data, isFetching } = useQuery({ ...query, enabled })
  const found = enabled ? (data ?? []).slice(0, SHOWN) : []
  const entries = found.map(({ walletAddress, name }) => ({
    id: walletAddress,
    to: pathTo('customer', { params: { walletAddress } }),
    icon: 'person' as const,
    content: (
      <span className="flex items-center justify-between gap-3">
        <span className="min-w-0 truncate">
          <CustomerName name={name} wallet={walletAddress} />
        </span>
        {name !== '' && (
          <span className="shrink-0 text-xs text-muted">
            <Address value={walletAddress} />
          </span>
        )}
      </span>
    ),
  }))
  return { entries, searching: isFetching }
}

function FoundPayment({ row }: { row: PaymentRow }) {
  const purpose = purposeOf(row)
  return (
    <span className="flex items-center justify-between gap-3">
      <span className="min-w-0">
        <span className="block truncate">
          {directionWords(row)}{' '}
          <Address value={row.type === 'received' ? row.sender : row.recipient} />
        </span>
        <span className="block truncate text-xs text-muted">
          <Time at={row.timestamp} />
          {purpose !== null && (
            <>
              {' · '}
              <UntrustedText text={purpose} />
            </>
          )}
        </span>
      </span>
      <Amount atomic={row.amountAtomic} decimals={row.decimals} symbol={row.symbol} />
    </span>
  )
}

/** The value once it has not changed for a moment: not every letter is a search. */
function usePaused(value: string | undefined): string | undefined {
  const [paused, setPaused] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    timer.current = setTimeout(() => setPaused(value), PAUSE_MS)
    return () => clearTimeout(timer.current)
  }, [value])
  // What was deleted is searched no more, at once.
  return value === undefined ? undefined : paused
}
