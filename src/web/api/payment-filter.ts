import type { EndpointRequest } from '#contract/endpoints.ts'
import type { PaymentNote } from '#contract/payment-endpoints.ts'
import type { ListedStatus } from '#contract/payment.ts'
import type { SearchOf } from '../router/paths.ts'

/** What the payments page's address narrows the list to. */
export type PaymentFilter = SearchOf<'payments'>

export type Zone = 'local' | 'utc'

/** The same as the service is asked. */
export type ListQuery = Pick<
  NonNullable<EndpointRequest<'paymentList'>['query']>,
  | 'type'
  | 'status'
  | 'network'
  | 'asset'
  | 'by'
  | 'since'
  | 'until'
  | 'minAmount'
  | 'maxAmount'
  | 'q'
>

export function listQueryOf(filter: PaymentFilter, zone: Zone, now: number): ListQuery {
  const { since, until } = rangeOf(filter, zone, now)
  const query = {
    type: filter.type,
    status: isIncomplete(filter) ? INCOMPLETE : filter.status,
    network: filter.network,
    asset: filter.asset,
    since: since === undefined ? undefined : String(since),
    until: until === undefined ? undefined : String(until),
    minAmount: filter.min,
    maxAmount: filter.max,
    q: filter.q,
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

/**
 * The same for a file of entries, which carry the time at which a payment landed, in UTC: consecutive
 * months hold each payment once.
 */
export function entriesQueryOf(filter: PaymentFilter, now: number): ListQuery {
  const query = listQueryOf({ ...filter, zone: 'utc' }, 'utc', now)
  // No draft has an entry.
  return isIncomplete(filter) ? query : { ...query, by: 'landed' }
}

/**
 * The moment from which a list that was opened before counts its days now. A period such as "Last month" names other days
 * after midnight: of the reader's zone in the list, of UTC in a file of entries.
 */
export function renewOpened(
  opened: number,
  { filter, zone, now }: { filter: PaymentFilter; zone: Zone; now: number },
): number {
  const daysAt = (at: number) =>
    JSON.stringify([rangeOf(filter, zone, at), rangeOf({ ...filter, zone: 'utc' }, zone, at)])
  return filter.when && daysAt(now) !== daysAt(opened) ? now : opened
}

/** What is asked of the notes beside payments, which the service does not know. */
export type NoteFilter = Pick<PaymentFilter, 'label' | 'reconciled'>

/** Undefined where nothing is asked of them. */
export function noteFilterOf({ label, reconciled }: PaymentFilter): NoteFilter | undefined {
  return label || reconciled
    ? { ...(label && { label }), ...(reconciled && { reconciled }) }
    : undefined
}

/** Whether a payment with this note, or with none, is asked for. */
export function matchesNotes(
  { label, reconciled }: NoteFilter,
  note: Pick<PaymentNote, 'labels' | 'reconciledAt'> | undefined,
): boolean {
  if (label && !note?.labels.includes(label)) return false
  const marked = note !== undefined && note.reconciledAt !== null
  return !reconciled || marked === (reconciled === 'yes')
}

export function isFiltered(filter: PaymentFilter): boolean {
  return Object.values(filter).some(Boolean)
}

/** The filter of drafts: alone, and in no other list. */
export const INCOMPLETE = 'incomplete'

export function isIncomplete({ status }: PaymentFilter): boolean {
  return status?.split(',').includes(INCOMPLETE) ?? false
}

export function statusesOf(filter: PaymentFilter): ListedStatus[] {
  // The page's schema admits no other words.
  return filter.status && !isIncomplete(filter) ? (filter.status.split(',') as ListedStatus[]) : []
}

/** Unix milliseconds, from `since` until before `until`. */
export function rangeOf(
  { when, from, to, zone: named }: PaymentFilter,
  reader: Zone,
  now: number,
): { since: number | undefined; until: number | undefined } {
  const zone = named ?? reader
  const today = partsOf(now, zone)
  const start = (year: number, month: number, day: number) => momentOf({ year, month, day }, zone)
  switch (when) {
    case 'today':
      return { since: start(today.year, today.month, today.day), until: undefined }
    case '7d':
      return { since: start(today.year, today.month, today.day - 6), until: undefined }
    case '30d':
      return { since: start(today.year, today.month, today.day - 29), until: undefined }
    case 'month':
      return { since: start(today.year, today.month, 1), until: undefined }
    case 'last-month':
      return {
        since: start(today.year, today.month - 1, 1),
        until: start(today.year, today.month, 1),
      }
    case undefined: {
      const [first, last] = [dayParts(from), dayParts(to)]
      return {
        since: first && momentOf(first, zone),
        until: last && momentOf({ ...last, day: last.day + 1 }, zone),
      }
    }
  }
}

type Day = { year: number; month: number; day: number }

function dayParts(text: string | undefined): Day | undefined {
  const [year, month, day] = text?.split('-').map(Number) ?? []
  return year && month && day ? { year, month: month - 1, day } : undefined
}

function partsOf(at: number, zone: Zone): Day {
  const date = new Date(at)
  return zone === 'utc'
    ? { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() }
    : { year: date.getFullYear(), month: date.getMonth(), day: date.getDate() }
}

/** The first moment of a day; days beyond the month's roll over. */
function momentOf({ year, month, day }: Day, zone: Zone): number {
  return zone === 'utc' ? Date.UTC(year, month, day) : new Date(year, month, day).getTime()
}
