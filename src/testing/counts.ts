import { readFile } from 'node:fs/promises'
import * as v from 'valibot'

export type Counts = { passed: number; failed: number; skipped: number }

const VitestReport = v.object({ numPassedTests: v.number(), numFailedTests: v.number(), numPendingTests: v.number(), numTodoTests: v.number() })
const PlaywrightReport = v.object({ stats: v.object({ expected: v.number(), unexpected: v.number(), flaky: v.number(), skipped: v.number() }) })

export function addCounts(one: Counts, other: Counts): Counts {
  return { passed: one.passed + other.passed, failed: one.failed + other.failed, skipped: one.skipped + other.skipped }
}

/** Counts the tests of a step from its report. A step that failed counts at least one failure, whatever its report says. */
export async function readCounts(report: string | undefined, succeeded: boolean): Promise<Counts> {
  const counts = report ? await parseReport(report) : { passed: succeeded ? 1 : 0, failed: 0, skipped: 0 }
  return succeeded || counts.failed > 0 ? counts : { ...counts, failed: 1 }
}

async function parseReport(path: string): Promise<Counts> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const report = v.parse(v.union([VitestReport, PlaywrightReport]), JSON.parse(text))
  if ('stats' in report) {
    const { expected, unexpected, flaky, skipped } = report.stats
    return { passed: expected, failed: unexpected + flaky, skipped }
  }
  return { passed: report.numPassedTests, failed: report.numFailedTests, skipped: report.numPendingTests + report.numTodoTests }
}
