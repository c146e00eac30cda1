import { readFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import * as v from 'valibot'

/** What became of a step's tests. `failures`: each that failed, as `file › name: the first lines of why`. */
export type Report = { passed: number; failed: number; skipped: number; failures: string[] }

const StoredReport = v.object({ passed: v.number(), failed: v.number(), skipped: v.number(), failures: v.array(v.string()) })
const PlaywrightResult = v.object({
  errors: v.array(v.object({ message: v.optional(v.string(), '') })),
  attachments: v.array(v.object({ name: v.string(), path: v.optional(v.string()) })),
})
const PlaywrightSpec = v.object({
  title: v.string(),
  file: v.string(),
  ok: v.boolean(),
  tests: v.array(v.object({ results: v.array(PlaywrightResult) })),
})
const PlaywrightReport = v.object({
  stats: v.object({ expected: v.number(), unexpected: v.number(), flaky: v.number(), skipped: v.number() }),
  suites: v.array(v.object({ specs: v.array(PlaywrightSpec) })),
})
const LINES_OF_WHY = 16
const LINES_OF_PAGE = 60

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
  const report = v.parse(v.union([StoredReport, PlaywrightReport]), JSON.parse(text))
  if (!('stats' in report)) return report
  const { expected, unexpected, flaky, skipped } = report.stats
  const bad = report.suites.flatMap(({ specs }) => specs).filter(({ ok }) => !ok)
  const failures = await Promise.all(
    bad.map(async ({ file, title, tests }) => {
      const result = tests.at(-1)?.results.at(-1)
      return `${describeFailure(`${file} › ${title}`, result?.errors[0]?.message)}${await readPage(result)}`
    }),
  )
  return { passed: expected, failed: unexpected + flaky, skipped, failures }
}

/** A failed test and the first lines of why, without the frames of others. */
export function describeFailure(name: string, why = ''): string {
  const lines = stripVTControlCharacters(why).split('\n')
  const own = lines.filter((line) => !/^\s+at .*(node_modules|node:internal)/.test(line))
  return [name, ...own.slice(0, LINES_OF_WHY).map(indent)].join('\n').trimEnd()
}

/** What a page showed when its test failed, as a screen reader finds it. */
async function readPage(result: v.InferOutput<typeof PlaywrightResult> | undefined): Promise<string> {
  const path = result?.attachments.find(({ name }) => name === 'error-context')?.path
  const context = path === undefined ? '' : await readFile(path, 'utf8').catch(() => '')
  const shown = /^```yaml\n(.*?)^```/ms.exec(context)?.[1]
  if (!shown) return ''
  const all = shown.trimEnd().split('\n')
  // The menus are the same on every page.
  const from = Math.max(
    0,
    all.findIndex((line) => /^\s*- (dialog|main)\b/.test(line)),
  )
  return ['', '    The page:', ...all.slice(from, from + LINES_OF_PAGE).map(indent)].join('\n')
}

function indent(line: string): string {
  return `    ${line}`
}
