import { readFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import * as v from 'valibot'

/** What became of a step's tests. `failures`: each that failed, as `file › name: the first lines of why`. */
export type Report = { passed: number; failed: number; skipped: number; failures: string[] }

const VitestReport = v.object({
  numPassedTests: v.number(),
  numFailedTests: v.number(),
  numPendingTests: v.number(),
  numTodoTests: v.number(),
  testResults: v.array(
    v.object({
      name: v.string(),
      status: v.string(),
      message: v.optional(v.string(), ''),
      assertionResults: v.array(v.object({ fullName: v.string(), status: v.string(), failureMessages: v.nullish(v.array(v.string()), []) })),
    }),
  ),
})
const PlaywrightSpec = v.object({
  title: v.string(),
  file: v.string(),
  ok: v.boolean(),
  tests: v.array(v.object({ results: v.array(v.object({ errors: v.array(v.object({ message: v.optional(v.string(), '') })) })) })),
})
const PlaywrightReport = v.object({
  stats: v.object({ expected: v.number(), unexpected: v.number(), flaky: v.number(), skipped: v.number() }),
  suites: v.array(v.object({ specs: v.array(PlaywrightSpec) })),
})
const LINES_OF_WHY = 8

export function addReports(one: Report, other: Report): Report {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
    failures: [...one.failures, ...other.failures],
  }
}

/** Reads what a step's tests reported. A step that failed counts at least one failure, whatever its report says. */
export async function readReport({ name, report }: { name: string; report?: string | undefined }, succeeded: boolean): Promise<Report> {
  const told = report ? await parseReport(report) : { passed: succeeded ? 1 : 0, failed: 0, skipped: 0, failures: [] }
  if (succeeded || told.failed > 0) return told
  return { ...told, failed: 1, failures: [...told.failures, `${name}: the step failed; its output is above`] }
}

async function parseReport(path: string): Promise<Report> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0, failures: [`${path} was not written`] }
  const report = v.parse(v.union([VitestReport, PlaywrightReport]), JSON.parse(text))
  if ('stats' in report) {
    const { expected, unexpected, flaky, skipped } = report.stats
    const bad = report.suites.flatMap(({ specs }) => specs).filter(({ ok }) => !ok)
    const failures = bad.map(({ file, title, tests }) => told(`${file} › ${title}`, tests.at(-1)?.results.at(-1)?.errors[0]?.message))
    return { passed: expected, failed: unexpected + flaky, skipped, failures }
  }
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const bad = assertionResults.filter((test) => test.status === 'failed')
    if (bad.length === 0) return status === 'failed' ? [told(name, message)] : []
    return bad.map(({ fullName, failureMessages }) => told(`${name} › ${fullName}`, failureMessages?.[0]))
  })
  return { passed: report.numPassedTests, failed: report.numFailedTests, skipped: report.numPendingTests + report.numTodoTests, failures }
}

function told(name: string, why = ''): string {
  const lines = stripVTControlCharacters(why).split('\n')
  return [name, ...lines.slice(0, LINES_OF_WHY).map((line) => `    ${line}`)].join('\n').trimEnd()
}
