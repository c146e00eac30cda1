import { afterEach, expect, test, vi } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { configureClient } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { type ExportOptions, pagesOf, writeExport } from './export-rows.ts'

const PAGES = 200
const ROWS = 500

function row(index: number): PaymentRow {
  return {
    paymentId: `pay_${index}`,
    type: 'received',
    mode: 'local',
    amount: '0.000000000000000001',
    amountAtomic: '1',
    network: 'eip155:1',
    asset: NATIVE_ETH.address,
    symbol: 'ETH',
    decimals: 18,
    sender: '0x1',
    recipient: '0x2',
    resource: null,
    status: 'finalized',
    signature: null,
    timestamp: 1,
    confirmedAt: 2,
    blockTime: 3,
    fee: null,
    refundReason: null,
    metadata: null,
    refundOf: null,
    refund: { state: 'none', refundedAtomic: '0', pendingAtomic: '0' },
    draft: false,
  }
}

afterEach(() => {
  vi.unstubAllGlobals()
  queryClient.clear()
})

test('selected payments are written as they are now, and pages without one are not read', async () => {
  configureClient('http://dashboard.example')
  const LISTED = 3_000
  // After the newest come 599 of one moment.
  const time = (index: number) => (index > 0 && index < 600 ? 9_000 : 9_001 - index)
  const asked: string[] = []
  const draft: PaymentRow = { ...row(7_000), draft: true, status: 'created', timestamp: 8_000 }
  const listed = Array.from({ length: LISTED }, (_, index) => ({
    ...row(index),
    timestamp: time(index),
  }))
  vi.stubGlobal('fetch', (url: string) => {
    const query = new URL(url).searchParams
    asked.push(query.get('status') ?? 'listed')
    const [since, until] = [Number(query.get('since')), Number(query.get('until'))]
    const from = Number(query.get('cursor') ?? 0)
    const all = (query.get('status') ? [draft] : listed).filter(
      ({ timestamp }) => timestamp >= since && timestamp < until,
    )
    const payments = all.slice(from, from + ROWS).map((each) => ({ ...each, amount: 1 }))
    const nextCursor = from + ROWS < all.length ? String(from + ROWS) : null
    const page = { success: true, total: all.length, limit: ROWS, offset: 0, restoredAt: null }
    return Promise.resolve(new Response(JSON.stringify({ ...page, nextCursor, payments })))
  })
  const selected = (index: number): PaymentRow => ({
    ...row(index),
    status: 'pending',
    timestamp: time(index),
  })
  const rows = [selected(2_900), selected(0), selected(599), selected(601)]
  const found: PaymentRow[] = []
  const source = { kind: 'rows', viewer: { wallets: 'all' }, rows: [...rows, draft] } as const
  for await (const page of pagesOf(source, new AbortController().signal)) found.push(...page)
  expect(found.map(({ paymentId, status }) => `${paymentId} ${status}`)).toEqual([
    'pay_7000 created',
    'pay_0 finalized',
    'pay_599 finalized',
    'pay_601 finalized',
    'pay_2900 finalized',
  ])
  // One page of drafts, two of one moment, and one at each place further down.
  expect(asked).toEqual(['incomplete', 'listed', 'listed', 'listed'])
})

/** The service's two lists; `between` runs once the first of them was read. */
function serveLists(lists: { drafts: PaymentRow[]; listed: PaymentRow[] }, between: () => void) {
  configureClient('http://dashboard.example')
  let reads = 0
  vi.stubGlobal('fetch', (url: string) => {
    if (reads++ === 1) between()
    const query = new URL(url).searchParams
    const rows = query.get('status') ? lists.drafts : lists.listed
    const page = { success: true, total: rows.length, limit: ROWS, offset: 0, restoredAt: null }
    const payments = rows.map((each) => ({ ...each, amount: 1 }))
    return Promise.resolve(new Response(JSON.stringify({ ...page, nextCursor: null, payments })))
  })
}

async function exportSelected(rows: readonly PaymentRow[]): Promise<string[]> {
  const found: PaymentRow[] = []
  const source = { kind: 'rows', viewer: { wallets: 'all' }, rows } as const
  for await (const page of pagesOf(source, new AbortController().signal)) found.push(...page)
  return found.map(({ paymentId, status }) => `${paymentId} ${status}`)
}

const draft = (index: number): PaymentRow => ({ ...row(index), draft: true, status: 'created' })

test('a selected draft whose payer signs between the two lists is in the file', async () => {
  const lists = { drafts: [draft(1), draft(2)], listed: [row(3)] }
  serveLists(lists, () => {
    lists.listed.unshift(
      ...lists.drafts.splice(0, 1).map((each) => row(Number(each.paymentId.slice(4)))),
    )
  })
  const found = await exportSelected([draft(1), draft(2), row(3)])
  expect(found).toEqual(['pay_1 created', 'pay_2 created', 'pay_3 finalized'])
})

test('a selected payment that is in no list any more ends the export', async () => {
  serveLists({ drafts: [], listed: [row(3)] }, () => undefined)
  await expect(exportSelected([draft(1), row(3)])).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('100,000 payments are exported with one page in memory', async () => {
  let read = 0
  let [taken, rows, text] = [0, 0, 0]
  async function* pages() {
    for (; read < PAGES;) {
      // What was read before this page has been taken already.
      expect(taken).toBe(read)
      read++
      yield Array.from({ length: ROWS }, (_, index) => row(read * ROWS + index))
    }
  }
  const options: ExportOptions = {
    format: 'hledger',
    separator: ',',
    mark: false,
    networkName: (id) => id,
  }
  for await (const part of writeExport(pages(), options, new AbortController().signal)) {
    if (part.rows > 0) taken++
    rows += part.rows
    text += part.text.length
  }
  expect([read, rows]).toEqual([PAGES, PAGES * ROWS])
  expect(text).toBeGreaterThan(PAGES * ROWS * 100)
})

test('an export that is stopped reads no further page', async () => {
  const abort = new AbortController()
  let read = 0
  async function* pages() {
    for (;;) {
      read++
      yield [row(read)]
    }
  }
  const options: ExportOptions = {
    format: 'journal',
    separator: ';',
    mark: true,
    networkName: (id) => id,
  }
  const parts = writeExport(pages(), options, abort.signal)
  await parts.next()
  await parts.next()
  abort.abort()
  await expect(parts.next()).rejects.toThrow('aborted')
  expect(read).toBe(1)
})
