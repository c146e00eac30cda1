import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { i18n } from '../locales/i18n.ts'
import { assetReasons, balanceReasons, senderReasons } from './payment-reasons.ts'
import { codes } from './codes.ts'
import { proofReasons } from './proof-reasons.ts'
import { recipientReasons } from './recipient-reasons.ts'
import { refusals } from './refusals.ts'
import { formatBody, type ErrorRow } from './row.ts'
import { errorMessages } from './error-messages.ts'

const parts: Readonly<Record<string, Readonly<Record<string, ErrorRow>>>> = {
  codes,
  errorMessages,
  refusals,
  proofReasons,
  recipientReasons,
  balanceReasons,
  senderReasons,
  assetReasons,
}
/** A text for every placeholder in a row. */
const values = Object.fromEntries(
  [
    'wallet',
    'symbol',
    'minimum',
    'answer',
    'maxGas',
    'available',
    'required',
    'missing',
    'fee',
    'rent',
    'sent',
    'arrives',
    'configured',
    'onChain',
  ].map((name) => [name, 'something']),
)
const rows = Object.entries(parts).flatMap(([part, table]) =>
  Object.entries(table).map(([name, row]) => ({ name: `${part}.${name}`, row })),
)

test.each(rows)('$name says in plain words what happened and what to do', ({ row }) => {
  const title = i18n._(row.title, values)
  const body = formatBody(row, values)
  expect(title.length).toBeGreaterThan(8)
  expect(title).not.toMatch(/[.!:]$/)
  expect(body).toMatch(/[^.]\.$/)
  // No exclamation mark, no error code, no unfilled placeholder.
  expect(`${title} ${body}`).not.toMatch(/!|undefined|\{|(?!SERVICE_API_KEY)\b[A-Z]+_[A-Z_]+/)
})

test.each(rows)('$name offers only what its policy allows', ({ row: { action, retry } }) => {
  // A payment that may have left is never signed, sent or prepared again.
  if (retry === 'look_first') expect(action).toBe('wait')
  // A row that can never succeed offers another way, or nothing.
  if (retry === 'never') expect(['change', 'none']).toContain(action)
  if (retry === 'by_itself') expect(action).toBe('retry')
})

test('within a part no two rows sound the same', () => {
  for (const [part, table] of Object.entries(parts)) {
    const said = [...new Set(Object.values(table))].map(
      ({ title, body }) => `${i18n._(title)} ${i18n._(body)}`,
    )
    expect({ part, twice: said.filter((words, index) => said.indexOf(words) !== index) }).toEqual({
      part,
      twice: [],
    })
  }
})

test('no other file has its own table', async () => {
  const web = new URL('../', import.meta.url)
  const files = (await readdir(web, { recursive: true })).filter(
    (file) =>
      /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file) && !/^errors\/|\/testing\//.test(file),
  )
  expect(files.length).toBeGreaterThan(200)
  for (const file of files) {
    const text = await readFile(new URL(file, web), 'utf8')
    expect({
      file,
      own: /retry: '(by_itself|safe|after_change|look_first|never)'|code: '[A-Z_]+',\s*title:|case '(?:link|hosted|approval)_\w+'/.exec(
        text,
      )?.[0],
    }).toEqual({ file, own: undefined })
  }
})
