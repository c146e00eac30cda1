import { afterEach, expect, test, vi } from 'vitest'
import type { PaymentRow } from '#contract/payment-body.ts'
import { matchesFilter } from './merge-payment.ts'
import { matchesNotes, noteFilterOf } from './payment-filter.ts'
import { queryClient } from './query-client.ts'
import { filterPayments } from './filter-payments.ts'
import { configureClient } from './client.ts'

const note = (labels: string[], reconciledAt: number | null = null) => ({ labels, reconciledAt })

test.each([
  [{ label: 'rent' }, note(['rent', 'May']), true],
  [{ label: 'rent' }, note(['rental']), false],
  [{ label: 'rent' }, undefined, false],
  [{ reconciled: 'yes' }, note([], 5), true],
  [{ reconciled: 'yes' }, note(['rent']), false],
  [{ reconciled: 'yes' }, undefined, false],
  [{ reconciled: 'no' }, undefined, true],
  [{ reconciled: 'no' }, note(['rent']), true],
  [{ reconciled: 'no' }, note([], 5), false],
  [{ label: 'rent', reconciled: 'no' }, note(['rent']), true],
  [{ label: 'rent', reconciled: 'no' }, note(['rent'], 5), false],
] as const)('%j asks for %j: %j', (filter, of, expected) => {
  expect(
    matchesNotes(filter, of && { labels: [...of.labels], reconciledAt: of.reconciledAt }),
  ).toBe(expected)
})

test('nothing is asked of notes where the address says nothing of them', () => {
  expect(noteFilterOf({ status: 'confirmed', q: 'x' })).toBeUndefined()
  expect(noteFilterOf({ label: 'rent', status: 'confirmed' })).toEqual({ label: 'rent' })
})

test('what has just come has no label, and is in no books', () => {
  const payment = {
    status: 'confirmed',
    timestamp: 1,
    mode: 'local',
    events: [],
  } as unknown as Parameters<typeof matchesFilter>[0]
  const arrives = (filter: object) =>
    matchesFilter(payment, { viewer: { wallets: 'all' }, filter, zone: 'utc', now: 2 })
  expect(arrives({ reconciled: 'no' })).toBe(true)
  expect(arrives({ reconciled: 'yes' })).toBe(false)
  expect(arrives({ label: 'rent' })).toBe(false)
})

afterEach(() => {
  vi.unstubAllGlobals()
  queryClient.clear()
})

const idOf = (index: number) => `pay_${String(index).padStart(22, 'A')}`

/**
 * A merchant with 1,200 payments, 500 a page; every hundredth has the label, and every even
 * hundredth is in the books.
 */
function stubFixture(asked: string[]): void {
  configureClient('http://desk.example')
  const rowOf = (index: number): Partial<PaymentRow> => ({
    paymentId: idOf(index),
    type: 'received',
    mode: 'local',
    amountAtomic: '1',
    network: 'eip155:1',
    asset: '0x0',
    symbol: 'ETH',
    decimals: 18,
    sender: 'a',
    recipient: 'b',
    resource: null,
    status: 'confirmed',
    signature: null,
    timestamp: 10_000 - index,
    confirmedAt: null,
    blockTime: null,
    fee: null,
    refundReason: null,
    metadata: {},
    refundOf: null,
    refund: { state: 'none', refundedAtomic: '0', pendingAtomic: '0' },
    draft: false,
  })
  vi.stubGlobal('fetch', (url: string, init: { body?: string }) => {
    const { pathname, searchParams } = new URL(url)
    asked.push(`${pathname} ${searchParams.get('cursor') ?? ''}`.trim())
    const answer = (value: object) => Promise.resolve(new Response(JSON.stringify(value)))
    if (pathname === '/api/notes/labels')
      return answer({ labels: [{ label: 'rent', payments: 12 }] })
    if (pathname === '/api/notes/read') {
      const { paymentIds } = JSON.parse(init.body ?? '') as { paymentIds: string[] }
      const notes = paymentIds.flatMap((paymentId) => {
        const index = indexOf(paymentId)
        return index % 100 === 0
          ? [
              {
                paymentId,
                labels: ['rent'],
                note: '',
                email: null,
                reconciledAt: index % 200 === 0 ? 5 : null,
                updatedAt: 1,
              },
            ]
          : []
      })
      return answer({ notes })
    }
    const from = Number(searchParams.get('cursor') ?? 0)
    const rows = Array.from({ length: Math.min(500, 1_200 - from) }, (_, place) => ({
      ...rowOf(from + place),
      amount: 1,
    }))
    const next = from + 500
    return answer({
      success: true,
      total: 1_200,
      limit: 500,
      offset: 0,
      nextCursor: next < 1_200 ? String(next) : null,
      restoredAt: null,
      payments: rows,
    })
  })
}

function indexOf(id: string): number {
  return Number(id.slice(4).replace(/^A+/, ''))
}

async function sift(
  noted: Parameters<typeof filterPayments>[1]['noted'],
): Promise<{ ids: string[]; looked: number }> {
  const ids: string[] = []
  let looked = 0
  const options = { until: undefined, signal: new AbortController().signal }
  for await (const part of filterPayments({ wallets: 'all' }, { query: {}, noted }, options)) {
    ids.push(...part.rows.map(({ paymentId }) => paymentId))
    looked = part.looked
  }
  return { ids, looked }
}

test('every page is looked through by its cursor, and exactly what is asked for is found, in order', async () => {
  const asked: string[] = []
  stubFixture(asked)
  const { ids, looked } = await sift({ label: 'rent', reconciled: 'yes' })
  expect(ids).toEqual([0, 200, 400, 600, 800, 1_000].map(idOf))
  expect(looked).toBe(1_200)
  expect(asked.filter((path) => path.startsWith('/api/payments'))).toEqual([
    '/api/payments',
    '/api/payments 500',
    '/api/payments 1000',
  ])
})

test('the rest is everything else', async () => {
  stubFixture([])
  expect((await sift({ reconciled: 'no' })).ids).toHaveLength(1_194)
})

test('a label that nobody wrote asks for no payment at all', async () => {
  const asked: string[] = []
  stubFixture(asked)
  expect(await sift({ label: 'nobody' })).toEqual({ ids: [], looked: 0 })
  expect(asked).toEqual(['/api/notes/labels'])
})
