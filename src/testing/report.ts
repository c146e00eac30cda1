import { readFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import * as v from 'valibot'

const TestDuration = v.object({ file: v.string(), title: v.string(), ms: v.number() })
const StoredReport = v.object({
  passed: v.number(),
  failed: v.number(),
  skipped: v.number(),
  failures: v.array(v.string()),
  durations: v.array(TestDuration),
})

/**
 * The results of a step's tests. `failures`: each that failed, as `file › name: the first lines of
 * why`. `durations`: of each test that ran.
 */
export type TestReport = v.InferOutput<typeof StoredReport>
export type TestDuration = v.InferOutput<typeof TestDuration>

const PlaywrightResult = v.object({
  duration: v.number(),
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
  stats: v.object({
    expected: v.number(),
    unexpected: v.number(),
    flaky: v.number(),
    skipped: v.number(),
  }),
  suites: v.array(v.object({ specs: v.array(PlaywrightSpec) })),
})
const LINES_OF_WHY = 16
const LINES_OF_PAGE = 60

export function addReports(one: TestReport, other: TestReport): TestReport {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
    failures: [...one.failures, ...other.failures],
    durations: [...one.durations, ...other.durations],
  }
}

const SLOWEST = 10

/**
 * The slowest tests and files of a step, in seconds. A file's time is the sum of its tests, which
 * may have run in parallel with those of others.
 */
export function listSlowest(durations: readonly TestDuration[]): string[] {
  const files = new Map<string, number>()
  for (const { file, ms } of durations) files.set(file, (files.get(file) ?? 0) + ms)
  const tests = durations.map(({ file, title, ms }) => [`${file} › ${title}`, ms] as const)
  return [...formatSlowest(tests), ...formatSlowest([...files])]
}

function formatSlowest(entries: readonly (readonly [name: string, ms: number])[]): string[] {
  const slowest = entries.toSorted(([, one], [, other]) => other - one).slice(0, SLOWEST)
  return slowest.map(([name, ms]) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${name}`)
}

/**
 * Reads what a step's tests reported. A failed step counts at least one failure, even if its report
 * has none.
 */
export async function readReport(
  { name, report }: { name: string; report?: string | undefined },
  succeeded: boolean,
): Promise<TestReport> {
  const told = report
    ? await parseReport(report)
    : { passed: succeeded ? 1 : 0, failed: 0, skipped: 0, failures: [], durations: [] }
  if (succeeded || told.failed > 0) return told
  return {
    ...told,
    failed: 1,
    failures: [...told.failures, `${name}: the step failed; its output is above`],
  }
}

async function parseReport(path: string): Promise<TestReport> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined)
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      failures: [`${path} was not written`],
      durations: [],
    }
  const report = v.parse(v.union([StoredReport, PlaywrightReport]), JSON.parse(text))
  if (!('stats' in report)) return report
  const { expected, unexpected, flaky, skipped } = report.stats
  const specs = report.suites.flatMap((suite) => suite.specs)
  const bad = specs.filter(({ ok }) => !ok)
  const durations = specs.flatMap(({ file, title, tests }) =>
    tests.flatMap(({ results }) => results.map(({ duration }) => ({ file, title, ms: duration }))),
  )
  const failures = await Promise.all(
    bad.map(async ({ file, title, tests }) => {
      const result = tests.at(-1)?.results.at(-1)
      return `${describeFailure(`${file} › ${title}`, result?.errors[0]?.message)}${await readPage(result)}`
    }),
  )
  return { passed: expected, failed: unexpected + flaky, skipped, failures, durations }
}

/** A failed test and the first lines of why, without the stack frames of others. */
export function describeFailure(name: string, why = ''): string {
  const lines = stripVTControlCharacters(why).split('\n')
  const own = lines.filter((line) => !/^\s+at .*(node_modules|node:internal)/.test(line))
  return [name, ...own.slice(0, LINES_OF_WHY).map(indent)].join('\n').trimEnd()
}

/** What a page showed when its test failed, as a screen reader finds it. */
async function readPage(
  result: v.InferOutput<typeof PlaywrightResult> | undefined,
): Promise<string> {
  const path = result?.attachments.find(({ name }) => name === 'error-context')?.path
  const context = path === undefined ? '' : await readFile(path, 'utf8').catch(() => '')
  const shown = /^```yaml\n(.*?)^```/ms.exec(context)?.[1]
  if (!shown) return ''
  const all = shown.trimEnd().split('\n')
  // The menus are the same on every page, and a dialog covers the rest.
  const at = [/^\s*- dialog\b/, /^\s*- main\b/].map((part) =>
    all.findIndex((line) => part.test(line)),
  )
  const from = at.find((index) => index >= 0) ?? 0
  return ['', '    The page:', ...all.slice(from, from + LINES_OF_PAGE).map(indent)].join('\n')
}

function indent(line: string): string {
  return `    ${line}`
}
