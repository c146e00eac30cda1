import { and, eq, inArray, or, type AnyColumn, type SQL } from 'drizzle-orm'
import { parseAddress } from '#contract/address.ts'
import { parseAmount } from '#contract/amount.ts'
import type { EndpointInput } from '#contract/endpoints.ts'
import { describe } from '#contract/fields.ts'
import { findAsset, type Network } from '#contract/network.ts'
import {
  describeSearchProblem,
  parseSearch,
  type AmountBound,
  type PaymentSearch,
} from '#contract/payment-search.ts'
import { type ListedStatus, type PaymentStatus, isPaymentId } from '#contract/payment.ts'
import { refuseParameters } from '../../context/network.ts'
import { AMOUNT_DECIMALS } from '../../db/schema/columns.ts'

/** What a list is ordered by: when its payments were created, or when they landed. */
export type ListOrder = 'created' | 'landed'

/** A place in a list that is ordered by a time and id: the last row that was read. New rows do not move it. */
export type CursorPosition = { at: Date; id: string }

const MARKS: Readonly<Record<ListOrder, string>> = { created: '', landed: 'l' }

/** The end of the year 9999: later times have no spelling that Postgres reads, and no payment. */
export const LAST_MOMENT = 253_402_300_799_999

export function writeCursorText({ at, id }: CursorPosition, by: ListOrder): string {
  return Buffer.from(`${MARKS[by]}${at.getTime()}.${id}`).toString('base64url')
}

/** @throws `INVALID_PARAMETERS` when it is none of ours, or of a list in another order */
export function readCursorText(text: string, by: ListOrder): CursorPosition {
  const match = /^l?([0-9]{1,15})\.(.+)$/.exec(Buffer.from(text, 'base64url').toString('utf8'))
  const [, time = '', id = ''] = match ?? []
  if (
    !match ||
    Number(time) > LAST_MOMENT ||
    !isPaymentId(id) ||
    writeCursorText({ at: new Date(Number(time)), id }, by) !== text
  ) {
    throw refuseParameters({
      cursor: 'Expected nextCursor of an answer before, to a request with the same `by`.',
    })
  }
  return { at: new Date(Number(time)), id }
}

export type PaymentListQuery = Omit<EndpointInput<'paymentList'>['query'], 'wallets' | 'parties'>

/** What a list is narrowed to, read and checked. */
export type Filters = {
  accountId: string
  /** Whose payments; undefined for all of the account. */
  wallets: readonly string[] | undefined
  type: PaymentListQuery['type']
  statuses: readonly ListedStatus[] | undefined
  /** Drafts, and nothing else; otherwise everything else. */
  drafts: boolean
  network: string | undefined
  /** A symbol may stand for several assets: one on each network. An address stands for itself, on any. */
  assets: readonly { network?: string; address: string }[] | undefined
  /** What the times are, and the order. */
  by: ListOrder
  since: Date | undefined
  until: Date | undefined
  /** In units of 10^-36. */
  minAmount: string | undefined
  maxAmount: string | undefined
  text: string | undefined
  /** Whose payments are found beside those with the text. */
  parties: readonly string[]
  /** Of a search: one payer, one payee. */
  from: string | undefined
  to: string | undefined
  /** Whether it is a search, whose payments are counted up to a limit. */
  searched: boolean
}

/** The statuses of what landed, as in `searchExpressions.hasLanded`. */
export const LANDED = ['confirmed', 'finalized', 'failed'] as const satisfies PaymentStatus[]

/** The statuses in a list for which none was asked; undefined for all. */
const LISTED_BY = { created: undefined, landed: LANDED } as const satisfies Record<
  ListOrder,
  readonly PaymentStatus[] | undefined
>

/** @throws `INVALID_PARAMETERS` with every problem in one answer */
export function readFilters(
  accountId: string,
  query: PaymentListQuery,
  scope: {
    wallets: readonly string[] | undefined
    parties?: readonly string[] | undefined
    networks: readonly Network[]
  },
): Filters {
  const details: Record<string, string> = {}
  const search = readSearch(query, details)
  const network = query.network ?? search.network
  const asset = query.asset ?? search.asset
  const status = query.status ?? search.status
  const by = query.by ?? 'created'
  const filters: Filters = {
    accountId,
    wallets: scope.wallets && [...new Set(scope.wallets)],
    type: query.type,
    statuses: status === 'incomplete' ? undefined : (status ?? LISTED_BY[by]),
    drafts: status === 'incomplete',
    network: network === undefined ? undefined : readNetwork(network, scope.networks, details),
    assets: asset === undefined ? undefined : readAssets(asset, scope.networks, details),
    by,
    since: moment(query.since),
    until: moment(query.until),
    minAmount:
      query.minAmount === undefined
        ? bound(search.minAmount, 1n)
        : readAmount('minAmount', query.minAmount, details),
    maxAmount:
      query.maxAmount === undefined
        ? bound(search.maxAmount, -1n)
        : readAmount('maxAmount', query.maxAmount, details),
    text: search.text,
    parties: [...new Set(scope.parties)],
    from: search.from,
    to: search.to,
    searched: query.q !== undefined,
  }
  if (scope.parties && search.text === undefined)
    details.parties =
      'Expected a text in q beside parties: without one there is nothing to add them to.'
  if (query.since !== undefined && query.until !== undefined && query.since > query.until)
    details.until = 'Expected a time that is not before since.'
  if (filters.drafts && by === 'landed')
    details.by =
      'Expected "created" beside status "incomplete", received "landed": no draft landed.'
  if (query.cursor !== undefined && query.offset > 0)
    details.offset = 'Expected no offset beside a cursor.'
  if (Object.keys(details).length > 0) throw refuseParameters(details)
  return filters
}

/** The filters that payments and their tallies share. */
export function kindOf(
  { statuses, network, assets }: Filters,
  columns: { status: AnyColumn; network: AnyColumn; asset: AnyColumn },
): SQL | undefined {
  return and(
    statuses && inArray(columns.status, [...statuses]),
    network === undefined ? undefined : eq(columns.network, network),
    assets &&
      or(
        ...assets.map((asset) =>
          and(
            eq(columns.asset, asset.address),
            asset.network === undefined ? undefined : eq(columns.network, asset.network),
          ),
        ),
      ),
  )
}

/** An operator and the filter of the same name would be two answers to one question. */
function readSearch(query: PaymentListQuery, details: Record<string, string>): PaymentSearch {
  const parsed = parseSearch(query.q ?? '')
  if (!parsed.ok) {
    details.q = describeSearchProblem(parsed.problem)
    return {}
  }
  const { search } = parsed
  const both = (['status', 'network', 'asset', 'minAmount', 'maxAmount'] as const).find(
    (name) => query[name] !== undefined && search[name] !== undefined,
  )
  if (both) details.q = `Expected either ${both} or its operator in q, received both.`
  return search
}

/** In units of 10^-36; one unit further where the bound itself is not meant. */
function bound(amount: AmountBound | undefined, further: bigint): string | undefined {
  if (!amount) return undefined
  const parsed = parseAmount(amount.value, AMOUNT_DECIMALS)
  const atomic = parsed.ok ? parsed.atomic : 0n
  return String(amount.inclusive ? atomic : atomic + further)
}

function readNetwork(
  name: string,
  networks: readonly Network[],
  details: Record<string, string>,
): string {
  if (!networks.some(({ network }) => network === name)) {
    details.network = `Expected one of ${networks.map(({ network }) => network).join(', ')}, received ${describe(name)}.`
  }
  return name
}

function readAssets(
  name: string,
  networks: readonly Network[],
  details: Record<string, string>,
): Filters['assets'] {
  const assets = networks.flatMap((network) => {
    const asset = findAsset(network, name)
    return asset ? [{ network: network.network, address: asset.address }] : []
  })
  if (assets.length > 0) return assets
  const parsed = parseAddress(name)
  if (parsed.ok) return [{ address: parsed.address }]
  details.asset = `Expected a configured symbol or an address, received ${describe(name)}.`
  return undefined
}

function moment(at: number | undefined): Date | undefined {
  return at === undefined ? undefined : new Date(Math.min(at, LAST_MOMENT))
}

function readAmount(
  field: 'minAmount' | 'maxAmount',
  text: string,
  details: Record<string, string>,
): string {
  if (/^0(\.0+)?$/.test(text)) return '0'
  const parsed = parseAmount(text, AMOUNT_DECIMALS)
  if (parsed.ok) return parsed.atomic.toString()
  details[field] = `Expected a decimal number, received ${describe(text)}.`
  return '0'
}
