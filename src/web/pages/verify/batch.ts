import { t } from '@lingui/core/macro'
import { formatAmount } from '#contract/amount.ts'
import { JsonError, parseJson } from '#contract/json.ts'
import { findAsset } from '#contract/network.ts'
import { errorSentence } from '../../errors/codes.ts'
import { proofReasons } from '../../errors/proof-reasons.ts'
import { csvFile, readerShape } from '../../locales/csv-cell.ts'
import { i18n } from '../../locales/i18n.ts'
import { firstBad, verdictOf, type ProofVerdict } from '../../payment-view/check.ts'
import { factsOf, type ProofFacts } from './proof/facts.ts'
import type { Expected } from './proof/local-checks.ts'
import { recognize } from './recognize.ts'
import { checkOnly } from './run-checks.ts'

/** Many proofs at once. */

export const MAX_PROOFS = 500

/** One proof of a list and the name it goes by, where it has one. */
export type BatchRow = { name: string; proof: string }

export type ReadBatch =
  | { ok: true; rows: BatchRow[] }
  | { ok: false; problem: 'json' | 'too_many' | 'no_column' }

const COLUMNS = /^(?:proof|paymentproof|payment_proof|x-payment|payment-signature|header)$/i
const NAMES = /^(?:id|name|reference|order|order_id|orderid)$/i

/** Reads lines, CSV with a header row, or a JSON list of texts or objects. */
export function readBatch(text: string): ReadBatch {
  const trimmed = text.trim()
  if (trimmed === '') return { ok: true, rows: [] }
  const rows = trimmed.startsWith('[') ? fromJson(trimmed) : fromLines(trimmed)
  if (typeof rows === 'string') return { ok: false, problem: rows }
  return rows.length > MAX_PROOFS ? { ok: false, problem: 'too_many' } : { ok: true, rows }
}

function fromJson(text: string): BatchRow[] | 'json' {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) return 'json'
    throw error
  }
  if (!Array.isArray(value)) return 'json'
  return value.map((entry: unknown, index) => {
    if (typeof entry === 'string') return { name: String(index + 1), proof: entry }
    if (typeof entry !== 'object' || entry === null) return { name: String(index + 1), proof: '' }
    const fields = Object.entries(entry)
    const textOf = (names: RegExp) =>
      fields.find(([name, field]) => names.test(name) && typeof field === 'string')?.[1] as
        | string
        | undefined
    return { name: textOf(NAMES) ?? String(index + 1), proof: textOf(COLUMNS) ?? '' }
  })
}

function fromLines(text: string): BatchRow[] | 'no_column' {
  const lines = readCsv(text)
  const [first = [], ...rest] = lines
  if (first.length > 1 || COLUMNS.test(first[0] ?? '')) {
    const at = first.findIndex((name) => COLUMNS.test(name.trim()))
    const named = first.findIndex((name) => NAMES.test(name.trim()))
    if (at < 0) return 'no_column'
    return rest
      .filter((row) => row.some((cell) => cell.trim() !== ''))
      .map((row, index) => ({
        name: (named >= 0 && row[named]?.trim()) || String(index + 1),
        proof: row[at]?.trim() ?? '',
      }))
  }
  return lines
    .filter(([line = '']) => line.trim() !== '')
    .map(([line = ''], index) => ({ name: String(index + 1), proof: line.trim() }))
}

/** RFC 4180: quotes, doubled quotes, line ends within quotes. Base64 holds no comma, so plain lines are rows of one cell. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  let cell = ''
  let quoted = false
  const end = () => {
    rows.at(-1)?.push(cell)
    cell = ''
  }
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (quoted) {
      if (char !== '"') cell += char
      else if (text[index + 1] === '"') cell += text[++index]
      else quoted = false
    } else if (char === '"' && cell === '') quoted = true
    else if (char === ',') end()
    else if (char === '\n' || char === '\r') {
      if (char === '\r' && text[index + 1] === '\n') index++
      end()
      rows.push([])
    } else cell += char
  }
  end()
  return rows
}

export type BatchOutcome = {
  name: string
  verdict: string
  reason: string
  amount: string
  payer: string
  transaction: string
}

/** The proofs themselves stay out: the file may travel. */
export function writeCsv(outcomes: readonly BatchOutcome[]): string {
  const head = ['name', 'verdict', 'reason', 'amount', 'payer', 'transaction'] as const
  const rows = outcomes.map((outcome) =>
    head.map((key) => ({ text: outcome[key], figure: key === 'amount' })),
  )
  return csvFile([head.map((text) => ({ text, figure: false })), ...rows], readerShape())
}

/** What became of one proof of many. */
export type ProofLine = {
  name: string
  verdict: ProofVerdict
  reason: string
  amount: string
  payer: string
  transaction: string
}

/** In the expected currency; nothing where the proof names another one: its column has no place for a second currency. */
function amountOf({ amountAtomic, asset, network, networkName }: ProofFacts, expected: Expected) {
  const isExpected =
    (network ?? networkName) === expected.network.network &&
    (asset === null || findAsset(expected.network, asset)?.address === expected.asset.address)
  return amountAtomic !== null && isExpected
    ? formatAmount(amountAtomic, expected.asset.decimals)
    : ''
}

export type RowContext = {
  /** The service may be asked. */
  mine: boolean
  /** The proofs of earlier rows, and those rows' names. */
  seen: Map<string, string>
}

/** Checks one proof of many and uses nothing up. Each of two equal ones would read as good alone; together they pay once. */
export async function checkRow(
  { name, proof }: BatchRow,
  expected: Expected,
  { mine, seen }: RowContext,
): Promise<ProofLine> {
  const found = recognize(proof)
  const empty = { name, amount: '', payer: '', transaction: '' }
  if (found.kind !== 'proof')
    return {
      ...empty,
      verdict: 'invalid',
      reason: found.kind === 'problem' ? found.text : i18n._(proofReasons.malformed.title),
    }
  const facts = factsOf(found.payment)
  const about = {
    ...empty,
    amount: amountOf(facts, expected),
    payer: facts.payer ?? '',
  }
  const id = facts.transaction ?? JSON.stringify(found.payment.payload)
  const first = seen.get(id)
  if (first !== undefined)
    return { ...about, verdict: 'invalid', reason: t`Duplicate of “${first}”.` }
  seen.set(id, name)
  try {
    const result = await checkOnly(
      { header: found.header, payment: found.payment, facts, expected },
      mine,
    )
    const bad = firstBad(result.checks)
    const news = result.undecided ?? (result.already ? t`Accepted before.` : '')
    return {
      ...about,
      verdict: verdictOf(result),
      reason: bad?.reason ? i18n._(proofReasons[bad.reason].title) : news,
      transaction: result.transaction ?? '',
    }
  } catch (error) {
    return { ...about, verdict: 'unknown', reason: errorSentence(error, t`The check failed.`) }
  }
}
