import { infiniteQueryOptions, queryOptions, type QueryClient } from '@tanstack/react-query'
import type { Session } from '#contract/dashboard-endpoints.ts'
import type { EndpointResponse } from '#contract/endpoints.ts'
import type { WebhookDeliveryBody, WebhookState } from '#contract/webhook-endpoints.ts'
import { call, callProxy } from './client.ts'
import type { ListQuery } from './payment-filter.ts'
import { noteSession } from './session-end.ts'

/** One row a read. The key starts with the endpoint's name, so that an event finds every reading it concerns. */

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: ({ signal }) => callProxy('config', {}, { signal }),
  staleTime: 5 * 60_000,
})

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal, client, queryKey }) => {
    const { session } = await callProxy('session', {}, { signal })
    const before = client.getQueryData<Session | null>(queryKey)
    noteSession(before, session)
    if (hasLost(before, session)) await forgetReads(client)
    return session
  },
  staleTime: 60_000,
})

/** Whether a session that had wallets ended, or a wallet or the role of it is gone: another tab signed out, or signed in as another account. */
function hasLost(before: Session | null | undefined, now: Session | null): boolean {
  if (!before || before.wallets.length === 0) return false
  return (
    now === null ||
    now.role !== before.role ||
    before.wallets.some((wallet) => !now.wallets.includes(wallet))
  )
}

/** What says the same to everybody, or was read from a chain: a form that a payer has begun stays. */
const OF_NO_READER: ReadonlySet<unknown> = new Set([
  'config',
  'session',
  'linkRead',
  'linkLease',
  'linkSurplus',
  'imageRead',
  'invitationRead',
  'balances',
  'broadcast',
  'feeLevels',
])

/** Nothing that a session read stays in view after it, in any tab. */
async function forgetReads(client: QueryClient): Promise<void> {
  const ofReader = {
    predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => !OF_NO_READER.has(queryKey[0]),
  }
  await client.cancelQueries(ofReader)
  client.removeQueries(ofReader)
}

/** Whose payments: the whole account's, or those of some wallets. */
export type Viewer = { wallets: readonly string[] | 'all' }

export type PaymentPage = EndpointResponse<'paymentList'>

/** Rows of one page of the list. */
export const PAGE_SIZE = 100

export type PageAt = {
  /** Counted from the newest payment at the moment the list was opened. */
  index: number
  /** That moment: later payments do not move the rows. Unknown for the first page of all. */
  until?: number
  /** From the page before, where that is known; it is exact even where statuses change meanwhile. */
  cursor?: string
}

/** One page of a long list. Only those near the reader are kept. */
export function paymentPageQuery(
  viewer: Viewer,
  query: ListQuery,
  { index, until, cursor }: PageAt,
) {
  return queryOptions({
    queryKey: ['paymentList', viewer, query, 'page', index],
    queryFn: ({ signal }) =>
      call(
        'paymentList',
        {
          query: {
            ...query,
            ...(until !== undefined && {
              until: String(Math.min(until, Number(query.until ?? until))),
            }),
            wallets: walletsOf(viewer),
            limit: String(PAGE_SIZE),
            ...(cursor ? { cursor } : index > 0 && { offset: String(index * PAGE_SIZE) }),
          },
        },
        { signal },
      ),
    staleTime: 30_000,
    gcTime: 30_000,
  })
}

/** The newest few, and how many there are in all. */
export function newestQuery(viewer: Viewer, query: ListQuery, limit: number) {
  return queryOptions({
    queryKey: ['paymentList', viewer, query, 'newest', limit],
    queryFn: ({ signal }) =>
      call(
        'paymentList',
        { query: { ...query, wallets: walletsOf(viewer), limit: String(limit) } },
        { signal },
      ),
    staleTime: 15_000,
  })
}

export function paymentQuery(paymentId: string) {
  return queryOptions({
    queryKey: ['paymentStatus', paymentId],
    queryFn: ({ signal }) => call('paymentStatus', { params: { paymentId } }, { signal }),
    staleTime: 5_000,
  })
}

export function summaryQuery(viewer: Viewer, days: number) {
  return queryOptions({
    queryKey: ['paymentSummary', viewer, days],
    queryFn: ({ signal }) =>
      call(
        'paymentSummary',
        { query: { wallets: walletsOf(viewer), days: String(days) } },
        { signal },
      ),
    staleTime: 30_000,
  })
}

export const apiKeysQuery = queryOptions({
  queryKey: ['apiKeyList'],
  queryFn: async ({ signal }) => (await call('apiKeyList', {}, { signal })).keys,
  staleTime: 15_000,
})

export const webhooksQuery = queryOptions({
  queryKey: ['webhookList'],
  queryFn: async ({ signal }) => (await call('webhookList', {}, { signal })).webhooks,
  staleTime: 15_000,
})

/** All readings of the deliveries of one webhook. */
export const deliveriesKey = (id: string) => ['webhookDeliveries', id] as const

type Paged = { state: { data: { pages: readonly unknown[] } | undefined } }

/** A list is read again while it has one page: more pages would be as many requests. */
export const whileOnePage =
  (everyMs: number) =>
  ({ state: { data } }: Paged) =>
    data?.pages[1] ? false : everyMs

const DELIVERIES = 50

type DeliveriesFrom = { until: number; offset: number } | null

/**
 * Where the deliveries after a page begin: at the time of its last one, which comes twice. An offset
 * alone would skip deliveries when one of a page before is delivered again, and so leaves the filter.
 */
export function deliveriesAfter(
  page: readonly Pick<WebhookDeliveryBody, 'createdAt'>[],
  from: DeliveriesFrom,
): DeliveriesFrom | undefined {
  const last = page.at(-1)
  if (!last || page.length < DELIVERIES) return undefined
  const until = last.createdAt + 1
  // So many at one time that the next page would be this one.
  const same = page[0]?.createdAt === last.createdAt
  return { until, offset: same ? page.length + (from?.until === until ? from.offset : 0) : 0 }
}

/** The newest deliveries of a webhook, 50 at a time. They are read again while the log is open. */
export function deliveriesQuery(id: string, state: WebhookState | undefined) {
  return infiniteQueryOptions({
    queryKey: [...deliveriesKey(id), { state }],
    queryFn: async ({ signal, pageParam }) => {
      const query = {
        ...(state && { state }),
        limit: String(DELIVERIES),
        ...(pageParam && { until: String(pageParam.until), offset: String(pageParam.offset) }),
      }
      return (await call('webhookDeliveries', { params: { id }, query }, { signal })).deliveries
    },
    initialPageParam: null as DeliveriesFrom,
    getNextPageParam: (page, _, from) => deliveriesAfter(page, from),
    staleTime: 1_000,
    refetchInterval: whileOnePage(5_000),
  })
}

/** The time in which deliveries were made, and what became of them. */
export type DeliveryRange = { since: number; until: number; state?: WebhookState }

/** How many deliveries of a webhook a range has. */
export function deliveryCountQuery(id: string, { since, until, state }: DeliveryRange) {
  return queryOptions({
    queryKey: [...deliveriesKey(id), 'count', since, until, state],
    queryFn: async ({ signal }) => {
      const query = {
        since: String(since),
        until: String(until),
        ...(state && { state }),
        limit: '1',
      }
      return (await call('webhookDeliveries', { params: { id }, query }, { signal })).total ?? 0
    },
  })
}

/** The last 24 hours by the hour, or the last 30 days by the day. */
export function usageQuery(period: 'hour' | 'day') {
  return queryOptions({
    queryKey: ['usage', period],
    queryFn: ({ signal }) => call('usage', { query: { period } }, { signal }),
    staleTime: 15_000,
    refetchInterval: 60_000,
  })
}

export function walletsOf({ wallets }: Viewer): string | undefined {
  return wallets === 'all' ? undefined : wallets.join(',')
}
