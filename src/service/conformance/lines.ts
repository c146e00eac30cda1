import { historyLines } from './lines/history.ts'
import { keyLines } from './lines/keys.ts'
import { limitLines } from './lines/limits.ts'
import type { ConformanceLine, LineFacts, LineFinding } from './lines/line.ts'
import { manualLines } from './lines/manual.ts'
import { paymentLines } from './lines/payments.ts'
import type { Probe } from './lines/probe.ts'
import { receiveLines } from './lines/receive.ts'
import { sendLines } from './lines/send.ts'

/** Every line of the specification, in the order in which a run asks; those that HTTP cannot show say so. */
export const lines: readonly ConformanceLine[] = [
  ...keyLines,
  ...sendLines,
  ...receiveLines,
  ...historyLines,
  ...paymentLines,
  ...manualLines,
  ...limitLines,
]

export type LineResult = Omit<ConformanceLine, 'run'> & LineFinding

/** Asks line after line. One that cannot be asked, because the service does not answer, is one that failed. */
export async function runLines(
  lines: readonly ConformanceLine[],
  probe: Probe,
  facts: LineFacts,
): Promise<LineResult[]> {
  const results: LineResult[] = []
  for (const { run, ...line } of lines) {
    const finding = await run(probe, facts).catch((error: unknown): LineFinding => {
      const got =
        error instanceof Error
          ? `${error.message}${error.cause instanceof Error ? ` (${error.cause.message})` : ''}`
          : String(error)
      return { request: line.endpoint, expected: 'an answer', got, verdict: 'fail' }
    })
    results.push({ ...line, ...finding })
  }
  return results
}

/** The findings as people read them: a table with one row a line of the specification, then what failed in full, then the sum. */
export function formatReport(results: readonly LineResult[]): string {
  const rows = [['', 'line', 'request', 'expected', 'got'], ...results.map(toRow)]
  const widths = WIDEST.map((widest, column) =>
    Math.min(widest, Math.max(...rows.map((row) => row[column]?.length ?? 0))),
  )
  const table = rows.map((row) =>
    row
      .map((cell, column) => shorten(cell, WIDEST[column] ?? 0).padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const failures = results.filter(({ verdict }) => verdict === 'fail').map(inFull)
  const count = (verdict: LineResult['verdict']) =>
    results.filter((result) => result.verdict === verdict).length
  const sum = `${count('pass')} passed, ${count('fail')} failed, ${count('not asked')} not asked`
  return `${[table.join('\n'), ...failures, sum].join('\n\n')}\n`
}

const MARKS = { pass: 'pass', fail: 'FAIL', 'not asked': ' -- ' } as const
/** Of each column, in characters. */
const WIDEST = [4, 44, 100, 48, 72] as const

/** Addresses and proofs: what differs from row to row stands beside them. */
const LONG_WORD = /[0-9A-Za-z_=]{30,}/g

function toRow({ id, request, expected, got, verdict }: LineResult): string[] {
  return [
    MARKS[verdict],
    id,
    request.replaceAll(LONG_WORD, (word) => `${word.slice(0, 6)}…${word.slice(-4)}`),
    expected,
    got,
  ]
}

function inFull({ id, requirement, request, expected, got }: LineResult): string {
  return [
    `FAIL  ${id}: ${requirement}`,
    `      request   ${request}`,
    `      expected  ${expected}`,
    `      got       ${got}`,
  ].join('\n')
}

function shorten(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text
}
