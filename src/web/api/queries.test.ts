import { expect, onTestFinished, test, vi } from 'vitest'
import { configureClient } from './client.ts'
import { unmatchedQuery } from './inbox.ts'
import { deliveriesAfter } from './queries.ts'
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
