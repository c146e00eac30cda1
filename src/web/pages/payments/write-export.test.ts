import { expect, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { type ExportOptions, writeExport } from './export-rows.ts'

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
