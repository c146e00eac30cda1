import { expect, onTestFinished, test } from 'vitest'
import { LosslessNumber, parseJson } from '#contract/json.ts'
import type { PaymentRow } from '#contract/payment-body.ts'
import { csvCell, readerShape } from '../../locales/csv-cell.ts'
import { i18n } from '../../locales/i18n.ts'
import { hledgerRows } from './export-journal.ts'
import { exportHead, exportRows, exportTail, type ExportOptions } from './export-rows.ts'

const row: PaymentRow = {
  paymentId: 'pay_1',
  type: 'received',
  mode: 'local',
  amount: '0.000000000000000001',
  amountAtomic: '1',
  network: 'eip155:1',
  asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
  symbol: 'ETH',
  decimals: 18,
  sender: '0x1',
  recipient: '0x2',
  resource: 'https://shop.example/a,b',
  status: 'finalized',
  signature: '0xabc',
  timestamp: 0,
  confirmedAt: 2000,
  blockTime: 1000,
  fee: null,
  refundReason: null,
  metadata: {
    description: '=HYPERLINK("http://evil.example","x")',
    referenceId: 'a\n"b"',
    big: new LosslessNumber('12345678901234567890.10'),
  },
  refundOf: null,
  refund: { state: 'none', refundedAtomic: '0', pendingAtomic: '0' },
  draft: false,
}
const note = {
  paymentId: 'pay_1',
  labels: ['rent', 'May'],
  note: 'late',
  reconciledAt: 1000,
  email: 'a@b.example',
  updatedAt: 1000,
}
const csv: ExportOptions = {
  format: 'csv',
  separator: ',',
  mark: true,
  networkName: () => 'Ethereum',
}

/** A plain reader of RFC 4180, to read back what was written. */
function readCsv(text: string): string[][] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n"]*))(,|\r\n|$)/g)]
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of cells) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === '\r\n') rows.push([])
  }
  return rows.filter((cellsOfRow) => cellsOfRow.length > 1)
}

test('what is written is read back, digit by digit, and no cell is a formula', () => {
  const text = `${exportHead(csv)}${exportRows([row], new Map([['pay_1', note]]), { ...csv, first: true })}${exportTail(csv)}`
  expect(text.startsWith('\uFEFFdate,')).toBe(true)
  const [head = [], cells = []] = readCsv(text.slice(1))
  const read = Object.fromEntries(head.map((name, index) => [name, cells[index]]))
  expect(read).toMatchObject({
    date: '1970-01-01T00:00:00.000Z',
    amount: '0.000000000000000001',
    network: 'Ethereum',
    resource: 'https://shop.example/a,b',
    description: `'=HYPERLINK("http://evil.example","x")`,
    reference: 'a\n"b"',
    labels: 'rent, May',
    reconciled_at: '1970-01-01T00:00:01.000Z',
  })
})

test('late is what its block says, whenever the service noticed', () => {
  const quote = {
    currency: 'EUR',
    amount: '1',
    rate: '2',
    source: 'fixed',
    round: null,
    observedAt: 0,
    quotedAt: 0,
    expiresAt: 1000,
  }
  const lateAt = (blockTime: number | null) => {
    const text = exportRows([{ ...row, blockTime, metadata: { quote } }], new Map(), {
      ...csv,
      first: true,
    })
    const [head = []] = readCsv(exportHead({ ...csv, mark: false }))
    return readCsv(text)[0]?.[head.indexOf('quote_late')]
  }
  expect(lateAt(1000)).toBe('')
  expect(lateAt(1001)).toBe('late')
  expect(lateAt(null)).toBe('')
})

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '＝1'])(
  '%j is no formula any more',
  (text) => {
    expect(csvCell(text, { separator: ',' }).replace(/^"/, '')).toMatch(/^'/)
  },
)

test('text begins no formula where a spreadsheet splits cells at another separator', () => {
  // A plain spreadsheet: cells end at the separator or a line end, quotes count at their start.
  const split = (line: string, separator: string) =>
    line
      .split(new RegExp(`[\\r\\n${separator}]`))
      .map((cell) => cell.trim().replace(/^"+/, ''))
      .filter((cell) => /^\s*[=+\-@\uFF1D]/.test(cell))
  const texts = [',', ';', '\t', '\n'].flatMap((mark) =>
    ['=cmd', '\t=1', ' =cmd', '"=cmd"', '+1', '-1', '@SUM(1)', '＝1'].map(
      (end) => `a${mark}${end}`,
    ),
  )
  for (const text of texts)
    for (const written of [',', ';'] as const)
      for (const read of [',', ';', '\t'])
        expect(split(csvCell(text, { separator: written }), read)).toEqual([])
  const kept = 'Room 5; a-b, c=d, e@f.example'
  expect(csvCell(kept, { separator: ';' })).toBe(`"${kept}"`)
  expect(csvCell("a;=cmd|'/C calc'!A0;b", { separator: ',' })).toBe("a;'=cmd|'/C calc'!A0;b")
})

test('figures keep their sign, text keeps its edges, the other separator needs no quotes', () => {
  expect(csvCell('-1.5', { separator: ',', figure: true })).toBe('-1.5')
  expect(csvCell(' a ', { separator: ',' })).toBe('" a "')
  expect(csvCell('a,b', { separator: ';' })).toBe('a,b')
  expect(csvCell('a;b', { separator: ';' })).toBe('"a;b"')
})

test.each(['csv', 'journal'] as const)(
  'a %s file with semicolons has decimal commas in every figure, and no separator of thousands',
  (format) => {
    const fee = { amount: '0.5', amountAtomic: '5', decimals: 1, symbol: 'ETH', payer: '0x1' }
    const refund = { ...row.refund, refundedAtomic: '1500' }
    const times = { observedAt: 0, quotedAt: 0, expiresAt: 0 }
    const quote = { currency: 'EUR', amount: '11.345', rate: '0.919', source: 'fixed 1.0' }
    const paid: PaymentRow = {
      ...row,
      decimals: 3,
      amountAtomic: '12345',
      fee: { ...fee, own: true },
      refund,
      metadata: { quote: { ...quote, round: null, ...times } },
    }
    const options = { ...csv, format, separator: ';', mark: false } as const
    const text = exportHead(options) + exportRows([paid], new Map(), { ...options, first: true })
    const [head = [], cells = []] = text.split('\r\n').map((line) => line.split(';'))
    const read = Object.fromEntries(head.map((name, index) => [name, cells[index]]))
    expect(read).toMatchObject({ amount: '12,345', amount_atomic: '12345', fiat_amount: '11,345' })
    if (format === 'csv') expect(read).toMatchObject({ rate: '0,919', fee: '0,5', refunded: '1,5' })
    expect(Object.values(read).filter((cell) => /^-?[0-9]+\.[0-9]+$/.test(cell ?? ''))).toEqual([])
  },
)

test('a file follows the decimal mark of its reader', () => {
  expect(readerShape()).toEqual({ separator: ',', mark: true })
  onTestFinished(() => i18n.activate('en'))
  i18n.activate('es')
  expect(readerShape()).toEqual({ separator: ';', mark: true })
})

test('JSON over several pages is one array, numbers with all their digits', () => {
  const json: ExportOptions = { ...csv, format: 'json' }
  const text = `${exportHead(json)}${exportRows([row], new Map([['pay_1', note]]), { ...json, first: true })}${exportRows([], new Map(), { ...json, first: false })}${exportRows([row], new Map(), { ...json, first: false })}${exportTail(json)}`
  const [one, two] = parseJson(text) as Record<string, unknown>[]
  expect(one).toMatchObject({ payment_id: 'pay_1', labels: ['rent', 'May'], note: 'late' })
  expect(two).toMatchObject({ labels: [], note: null })
  expect(text).toContain('12345678901234567890.10')
})

test('a refund received lowers what was spent, and a refund sent what was earned: neither is income', () => {
  const postings = (type: PaymentRow['type']) =>
    hledgerRows([{ ...row, type, refundOf: 'pay_0', metadata: null }])
      .split('\n')
      .filter((line) => /^ {4}[^ ;]/.test(line))
      .map((line) => line.trim().replace(/ "eip155:1\/native" {2}; ETH$/, ''))
  expect(postings('received')).toEqual([
    'assets:eip155-1:0x2  0.000000000000000001',
    'expenses:payments  -0.000000000000000001',
  ])
  expect(postings('sent')).toEqual([
    'income:refunds  0.000000000000000001',
    'assets:eip155-1:0x1  -0.000000000000000001',
  ])
})

test('an asset is one commodity whatever its symbol, and two assets are two', () => {
  const usdt = '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'
  const polygon = { ...row, network: 'eip155:137', metadata: null }
  const token = { ...polygon, asset: usdt, decimals: 6 }
  const fee = { amount: '0.1', amountAtomic: '1', decimals: 18, payer: '0x2', own: true }
  const rows: PaymentRow[] = [
    { ...token, symbol: 'USDT' },
    { ...token, symbol: 'USD₮0', fee: { ...fee, symbol: 'POL' } },
    { ...token, asset: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', symbol: 'USDT' },
    { ...polygon, symbol: 'MATIC' },
    { ...polygon, symbol: 'POL', fee: { ...fee, symbol: 'ETH' } },
  ]
  const names = ['eip155:137/native', `eip155:137/${usdt}`, `eip155:137/${rows[2]?.asset}`]
  const text = hledgerRows(rows)
  const posted = [...text.matchAll(/^ {4}\S+(?: fees)? {2}-?[\d.]+ "([^"]+)"/gm)].map(
    ([, name]) => name,
  )
  expect(posted).toHaveLength(14)
  expect(new Set(posted)).toEqual(new Set(names))
  // What it was called then is beside it.
  const called = [...text.matchAll(/" {2}; (\S+)$/gm)].map(([, symbol]) => symbol)
  expect([...new Set(called)]).toEqual(['USDT', 'USD₮0', 'POL', 'MATIC', 'ETH'])
  const journal: ExportOptions = { ...csv, format: 'journal', mark: false }
  const [head = []] = readCsv(exportHead(journal))
  const cells = readCsv(exportRows(rows, new Map(), { ...journal, first: true }))
  expect(new Set(cells.map((line) => line[head.indexOf('commodity')]))).toEqual(new Set(names))
  expect(new Set(cells.map((line) => line[head.indexOf('symbol')]))).toEqual(new Set(called))
})

test('a symbol adds neither a tag nor a line', () => {
  const text = hledgerRows([{ ...row, symbol: 'A:b, c\n"d;', metadata: null }])
  expect(text).toContain('"eip155:1/native"  ; Abcd\n')
  expect(hledgerRows([{ ...row, symbol: '⚡', metadata: null }])).toContain('"eip155:1/native"\n')
})

test('a fee that an upgrade removed is visible as a correction in each format', () => {
  const corrected = { ...row, feeCorrectedAt: Date.parse('2026-07-01T10:00:00Z') }
  const at = '2026-07-01T10:00:00.000Z'
  const write = (format: ExportOptions['format'], some: PaymentRow) =>
    exportRows([some], new Map(), { ...csv, format, first: true })
  const [head = [], cells = []] = readCsv(exportHead(csv) + write('csv', corrected))
  expect(cells[head.indexOf('fee_corrected_at')]).toBe(at)
  expect(cells[head.indexOf('fee_atomic')]).toBe('')
  expect(write('json', corrected)).toContain(`"fee_corrected_at":"${at}"`)
  const journal = { ...csv, format: 'journal' } as const
  const [columns = [], ...postings] = readCsv(exportHead(journal) + write('journal', corrected))
  expect(postings.map((line) => line[columns.indexOf('fee_corrected_at')])).toEqual([at, at])
  expect(write('hledger', corrected)).toContain(`    ; fee_corrected_at:${at}\n`)
  expect(write('hledger', row)).not.toContain('fee_corrected_at')
})
