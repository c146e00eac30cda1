import { environmentManager, InfiniteQueryObserver } from '@tanstack/react-query'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { invoicesQuery } from '../pages/invoices/invoice-queries.ts'
import { configureClient } from './client.ts'
import { refundRequestsQuery, surplusQuery, undeliveredQuery, unmatchedQuery } from './inbox.ts'
import { deliveriesAfter, deliveriesQuery, sessionQuery } from './queries.ts'
import { queryClient } from './query-client.ts'

/** What the service answers: made before `until`, the newest first. */
function readAll(
  createdAt: ReadonlyMap<string, number>,
  afterFirst: (page: string[]) => string | undefined,
): Set<string> {
  const rows = new Map(createdAt)
  const seen = new Set<string>()
  let from: ReturnType<typeof deliveriesAfter> = null
  for (let pages = 0; from !== undefined; pages++) {
    const { until, offset } = from ?? { until: Infinity, offset: 0 }
    const page = [...rows]
      .map(([id, at]) => ({ id, createdAt: at }))
      .filter((row) => row.createdAt < until)
      .toSorted((a, b) => b.createdAt - a.createdAt)
      .slice(offset, offset + 50)
    for (const { id } of page) seen.add(id)
    from = deliveriesAfter(page, from)
    // It is delivered again, and is none of the failed ones any more.
    const left = pages === 0 ? afterFirst(page.map(({ id }) => id)) : undefined
    if (left !== undefined) rows.delete(left)
  }
  return seen
}

test('more deliveries are read without a gap, though one was delivered again meanwhile', () => {
  const made = new Map(Array.from({ length: 120 }, (_, index) => [`${index}`, 5000 - index * 10]))
  expect(readAll(made, () => undefined).size).toBe(120)
  expect(readAll(made, ([first]) => first).size).toBe(120)
  expect(readAll(made, (page) => page.at(-1)).size).toBe(120)
})

test('and though over a hundred were made at one time', () => {
  const made = new Map(Array.from({ length: 130 }, (_, index) => [`${index}`, 5000]))
  for (let older = 0; older < 30; older++) made.set(`older ${older}`, 4000 - older)
  expect(readAll(made, () => undefined).size).toBe(160)
})

test('unmatched transfers are read on until all of them are here, however many', async () => {
  onTestFinished(() => {
    vi.unstubAllGlobals()
    queryClient.clear()
  })
  configureClient('http://dashboard.example')
  const all = Array.from({ length: 250 }, (_, index) => ({
    transferId: `umt_${index}`,
    network: 'eip155:1',
    signature: `0x${index}`,
    sender: 'a',
    recipient: 'b',
    asset: 'c',
    symbol: 'ETH',
    decimals: 18,
    amount: 1,
    amountAtomic: '1',
    blockHeight: 1,
    timestamp: 1,
    candidates: [],
    assigned: null,
    refundedBy: null,
  }))
  vi.stubGlobal('fetch', (url: string) => {
    const query = new URL(url).searchParams
    const from = Number(query.get('offset'))
    const transfers = all.slice(from, from + Number(query.get('limit')))
    const page = { success: true, total: all.length, undecided: all.length, transfers }
    return Promise.resolve(new Response(JSON.stringify(page)))
  })
  const { pages } = await queryClient.fetchInfiniteQuery({ ...unmatchedQuery, pages: 9 })
  expect(pages.map(({ transfers }) => transfers.length)).toEqual([100, 100, 50])
  expect(new Set(pages.flatMap((page) => page.transfers.map((each) => each.transferId))).size).toBe(
    250,
  )
})

test.each<[string, object]>([
  ['unmatched transfers', unmatchedQuery],
  ['undelivered payments', undeliveredQuery],
  ['refund requests', refundRequestsQuery],
  ['surplus payments', surplusQuery],
  ['invoices', invoicesQuery({})],
  ['webhook deliveries', deliveriesQuery('whk_1', undefined)],
])('a list of %s on screen is read again in time, but not page after page', async (_, query) => {
  vi.useFakeTimers()
  environmentManager.setIsServer(() => false)
  const read = vi.fn<() => Promise<object>>(async () => ({ total: 900, transfers: [] }))
  const observer = new InfiniteQueryObserver(queryClient, {
    ...(query as typeof unmatchedQuery),
    queryFn: read as never,
    getNextPageParam: (_page, pages) => pages.length,
  })
  const unsubscribe = observer.subscribe(() => {})
  onTestFinished(() => {
    unsubscribe()
    environmentManager.setIsServer(() => true)
    vi.useRealTimers()
    queryClient.clear()
  })
  await vi.advanceTimersByTimeAsync(1_000)
  read.mockClear()
  await vi.advanceTimersByTimeAsync(31_000)
  expect(read).toHaveBeenCalled()

  await observer.fetchNextPage()
  read.mockClear()
  await vi.advanceTimersByTimeAsync(61_000)
  expect(read).not.toHaveBeenCalled()
})

describe('what a session read', () => {
  const OWNER = { wallets: ['a', 'b'], role: 'owner', expiresAt: 1 } as const
  const READINGS = [['paymentStatus', 'pay_1'], ['notes', ['pay_1']], ['mailRead']]

  /** Which readings this tab still has, once it reads that the session is now `now`. */
  async function readingsAfter(before: object | null, now: object | null): Promise<unknown[]> {
    onTestFinished(() => {
      vi.unstubAllGlobals()
      queryClient.clear()
    })
    configureClient('http://dashboard.example')
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ session: now }))))
    queryClient.setQueryData(['session'], before)
    for (const queryKey of [...READINGS, ['linkRead', 'x'], ['config']])
      queryClient.setQueryData(queryKey, {})
    await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
    expect(queryClient.getQueryData(sessionQuery.queryKey)).toEqual(now)
    for (const queryKey of [['linkRead', 'x'], ['config']])
      expect(queryClient.getQueryData(queryKey)).toEqual({})
    return READINGS.filter((queryKey) => queryClient.getQueryData(queryKey) !== undefined)
  }

  test.each([
    ['ended', null],
    ['is a buyer’s who paid without signing in', { ...OWNER, wallets: [], role: null }],
    ['is of another wallet', { ...OWNER, wallets: ['c'] }],
    ['has another wallet in place of one', { ...OWNER, wallets: ['a', 'c'] }],
    ['has a lower role', { ...OWNER, role: 'viewer' }],
    ['has no role any more', { ...OWNER, role: null }],
  ])('is in no tab any more once the session %s', async (_, now) => {
    expect(await readingsAfter(OWNER, now)).toEqual([])
  })

  test.each<[string, object | null, object]>([
    ['is the same', OWNER, { ...OWNER, expiresAt: 2 }],
    ['has a further wallet', OWNER, { ...OWNER, wallets: ['a', 'b', 'c'] }],
    ['begins', null, OWNER],
    ['of a buyer becomes a wallet’s', { ...OWNER, wallets: [], role: null }, OWNER],
  ])('stays while the session %s', async (_, before, now) => {
    expect(await readingsAfter(before, now)).toEqual(READINGS)
  })

  test('and what is on its way for the session before does not arrive', async () => {
    onTestFinished(() => {
      vi.unstubAllGlobals()
      queryClient.clear()
    })
    configureClient('http://dashboard.example')
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"session":null}')))
    queryClient.setQueryData(['session'], OWNER)
    const { promise, resolve } = Promise.withResolvers<string>()
    const queryKey = ['mailRead']
    const reading = queryClient
      .fetchQuery({ queryKey, queryFn: () => promise })
      .catch(() => 'cancelled')
    await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
    resolve('of the owner')
    expect(await reading).toBe('cancelled')
    expect(queryClient.getQueryData(queryKey)).toBeUndefined()
  })
})
