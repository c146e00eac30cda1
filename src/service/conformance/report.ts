import type { Result } from './run-lines.ts'

/** The findings as people read them: one block a line of the specification, then the sum. */
export function formatReport(results: readonly Result[]): string {
  const blocks = results.map(({ id, says, request, expected, got, verdict }) =>
    [`${MARKS[verdict]}  ${id}: ${says}`, `      request   ${shorten(request)}`, `      expected  ${expected}`, `      got       ${shorten(got)}`].join('\n'),
  )
  const count = (verdict: Result['verdict']) => results.filter((result) => result.verdict === verdict).length
  return `${blocks.join('\n')}\n\n${count('pass')} passed, ${count('fail')} failed, ${count('not asked')} not asked\n`
}

const MARKS = { pass: 'pass', fail: 'FAIL', 'not asked': ' -- ' } as const
const WIDTH = 160

function shorten(text: string): string {
  return text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text
}
