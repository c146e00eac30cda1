import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Customer, CustomerProfile, CustomerSort } from '#contract/customer-endpoints.ts'
import { customerTextOf } from '#contract/payment-search.ts'
import { call, callProxy } from './client.ts'
import { queryClient } from './query-client.ts'

/** What customers paid is read from the service, and who they are from the proxy. */

export type Profiles = ReadonlyMap<string, CustomerProfile>

export type ProfileUpdate = {
  name?: string
  email?: string | null
  labels?: string[]
  note?: string
}

const STALE_MS = 15_000

export function customersQuery(sort: CustomerSort) {
  return infiniteQueryOptions({
    queryKey: ['customerList', 'page', sort],
    queryFn: ({ signal, pageParam }) =>
      call(
        'customerList',
        { query: { sort, ...(pageParam && { cursor: pageParam }) } },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: STALE_MS,
  })
}

/** Those whose name, label or e-mail address fits, or whose address begins so. */
export function customerSearchQuery(text: string) {
  return queryOptions({
    queryKey: ['customerList', 'search', text],
    queryFn: async ({ signal }): Promise<Customer[]> => {
      const { profiles } = await callProxy('profileFind', { body: { text } }, { signal })
      const wallets = profiles.map(({ walletAddress }) => walletAddress).join(',')
      const start = /^[0-9A-Za-z]{1,64}$/.test(text) ? text : undefined
      if (wallets === '' && start === undefined) return []
      const query = { ...(wallets && { wallets }), ...(start !== undefined && { q: start }) }
      return (await call('customerList', { query }, { signal })).customers
    },
    staleTime: STALE_MS,
  })
}

/**
 * Customers by the words of a search of payments: their names are the proxy's alone, so the service cannot search them. At most 50; none without words.
 */
export function namedCustomersQuery(query: string) {
  const text = customerTextOf(query)
  return queryOptions({
    queryKey: ['profiles', 'named', text],
    queryFn: async ({ signal }): Promise<CustomerProfile[]> =>
      (await callProxy('profileFind', { body: { text: text ?? '' } }, { signal })).profiles,
    enabled: text !== undefined,
    staleTime: STALE_MS,
    gcTime: 60_000,
  })
}

/** Null for an address that paid nothing. */
export function customerQuery(wallet: string) {
  return queryOptions({
    queryKey: ['customerList', 'one', wallet],
    queryFn: async ({ signal }) =>
      (await call('customerList', { query: { wallets: wallet } }, { signal })).customers[0] ?? null,
    staleTime: STALE_MS,
  })
}

/** At most 500 wallets at once. */
export function profilesQuery(wallets: readonly string[]) {
  return queryOptions({
    queryKey: ['profiles', wallets],
    queryFn: async ({ signal }): Promise<Profiles> => {
      const { profiles } = await callProxy(
        'profileRead',
        { body: { wallets: [...wallets] } },
        { signal },
      )
      return new Map(profiles.map((profile) => [profile.walletAddress, profile]))
    },
    enabled: wallets.length > 0,
    staleTime: 60_000,
    gcTime: 60_000,
  })
}

/** @throws ApiError; then nothing was written */
export async function writeProfile(walletAddress: string, change: ProfileUpdate): Promise<void> {
  await callProxy('profileWrite', { body: { walletAddress, ...change } })
  await refreshProfiles()
}

/** @throws ApiError; then nothing was deleted */
export async function deleteProfile(walletAddress: string): Promise<void> {
  await callProxy('profileDelete', { body: { walletAddress } })
  await refreshProfiles()
  for (const name of ['invoiceList', 'invoiceRead', 'invoiceCustomers'])
    void queryClient.invalidateQueries({ queryKey: [name] })
  // E-mail addresses typed with payments are shown beside their notes.
  void queryClient.invalidateQueries({ queryKey: ['notes'] })
}

async function refreshProfiles(): Promise<void> {
  // A search of payments finds them by the names of their customers.
  void queryClient.invalidateQueries({ queryKey: ['paymentList'] })
  void queryClient.invalidateQueries({ queryKey: ['customerList', 'search'] })
  await queryClient.invalidateQueries({ queryKey: ['profiles'] })
}
