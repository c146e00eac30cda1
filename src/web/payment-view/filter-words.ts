import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import type { Network } from '#contract/network.ts'
import type { Direction } from '#contract/payment.ts'
import {
  INCOMPLETE,
  isIncomplete,
  rangeOf,
  statusesOf,
  type PaymentFilter,
  type Zone,
} from '../api/payment-filter.ts'
import { readDecimal, separators } from '../locales/decimal.ts'
import { formatDate, formatList, numberLocale } from '../locales/formats.ts'
import type { PERIODS } from '../router/paths.ts'
import { statusLabel } from '../ui/status-words.ts'

export const periodWords: Readonly<Record<(typeof PERIODS)[number], MessageDescriptor>> = {
  today: msg`Today`,
  '7d': msg`Last 7 days`,
  '30d': msg`Last 30 days`,
  month: msg`This month`,
  'last-month': msg`Last month`,
}

export type FilterChip = {
  id: string
  text: string
  cleared: Partial<Record<keyof PaymentFilter, undefined>>
}

/** Every filter that is set, in words, and what the filters are without it. */
export function chipsOf(
  filter: PaymentFilter,
  context: {
    networks: readonly Network[]
    zone: Zone
    now: number
    periodLabel: string | undefined
  },
): FilterChip[] {
  const chips: FilterChip[] = []
  const { min, max, q } = filter
  if (filter.type)
    chips.push({ id: 'type', text: typeWords(filter.type), cleared: { type: undefined } })
  const statuses = isIncomplete(filter)
    ? statusLabel(INCOMPLETE)
    : formatList(statusesOf(filter).map(statusLabel), 'disjunction')
  if (statuses)
    chips.push({ id: 'status', text: t`Status: ${statuses}`, cleared: { status: undefined } })
  const network =
    context.networks.find((each) => each.network === filter.network)?.name ?? filter.network
  if (network)
    chips.push({ id: 'network', text: t`Network: ${network}`, cleared: { network: undefined } })
  const asset = filter.asset
  if (asset) chips.push({ id: 'asset', text: t`Asset: ${asset}`, cleared: { asset: undefined } })
  const range = rangeWords(filter, context)
  if (range)
    chips.push({
      id: 'date',
      text: range,
      cleared: { when: undefined, from: undefined, to: undefined, zone: undefined },
    })
  if (min || max)
    chips.push({
      id: 'amount',
      text: amountWords(min, max),
      cleared: { min: undefined, max: undefined },
    })
  const label = filter.label
  if (label) chips.push({ id: 'label', text: t`Label: ${label}`, cleared: { label: undefined } })
  if (filter.reconciled)
    chips.push({
      id: 'reconciled',
      text: filter.reconciled === 'yes' ? t`Reconciled` : t`Not reconciled`,
      cleared: { reconciled: undefined },
    })
  if (q) chips.push({ id: 'q', text: t`Search: ${q}`, cleared: { q: undefined } })
  return chips
}

function typeWords(type: Direction): string {
  if (type === 'internal') return t`Internal`
  if (type === 'external') return t`Between others`
  return type === 'sent' ? t({ message: 'Sent', context: 'money' }) : t`Received`
}

function amountWords(min: string | undefined, max: string | undefined): string {
  const [least, most] = [localDecimalOf(min ?? ''), localDecimalOf(max ?? '')]
  if (min && max) return t`Amount: ${least} to ${most}`
  return min ? t`Amount: ${least} or more` : t`Amount: up to ${most}`
}

function rangeWords(
  filter: PaymentFilter,
  context: { zone: Zone; now: number; periodLabel: string | undefined },
): string | undefined {
  if (filter.when) return context.periodLabel
  const zone = filter.zone ?? context.zone
  const { since, until } = rangeOf(filter, zone, context.now)
  const dayOf = (at: number) =>
    formatDate(at, { dateStyle: 'medium', timeZone: zone === 'utc' ? 'UTC' : undefined })
  const [first, last] = [
    since === undefined ? '' : dayOf(since),
    until === undefined ? '' : dayOf(until - 1),
  ]
  if (first && last && filter.zone === 'utc')
    return first === last ? t`${first} (UTC)` : t`${first} to ${last} (UTC)`
  if (first && last) return first === last ? first : t`${first} to ${last}`
  return first ? t`Since ${first}` : last ? t`Until ${last}` : undefined
}

/** A plain decimal of the address with the reader's decimal point. */
export function localDecimalOf(plain: string): string {
  return plain.replace('.', separators(numberLocale()).point)
}

/** What a reader typed as the address carries it; nothing for nothing, and undefined for what is no amount. */
export function plainDecimalOf(typed: string): string | undefined {
  if (typed.trim() === '') return ''
  const read = readDecimal(typed, numberLocale())
  return read.ok && /^[0-9]{1,30}(\.[0-9]{1,36})?$/.test(read.plain) ? read.plain : undefined
}
